#pragma once

#include "framework/run/capacity/capacity_search.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

/// The search's runs as those of a session whose plan has frames arrive. A run that may be cut off
/// ends when, even if the rest of its frames were in time, late ones would be several times as many
/// as the percentile allows: a queue that grows without end need not be watched. `s` and `stop`
/// must outlive the function.
probe_function make_session_probe(session& s, const capacity_settings& how,
                                  const stop_request* stop = nullptr);

/// Of a run's frames those due and not done for longer than the bound, `elapsed` ns after they
/// began to arrive at a rate; at least so many, since under `poisson` their number varies.
std::int64_t overdue_frames(const capacity_settings& how, double rate, std::int64_t frames,
                            nanoseconds elapsed, std::int64_t done);

/// So many late frames of a run that there is no doubt about the rest.
std::int64_t enough_late(const capacity_settings& how, std::int64_t frames);

}  // namespace graphline
