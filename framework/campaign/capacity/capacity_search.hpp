#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "framework/base/stop_request.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/run/execute/machine_watch.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

/// A run that the search asks for.
struct probe_request {
  std::optional<double> rate;  ///< frames due in a second; nothing: all at once
  std::int64_t frames = 0;
  std::uint64_t seed = 1;    ///< of the moments at which they are due
  bool may_cut_off = false;  ///< may end early once its verdict is clear
  progress_function on_progress;
};

/// Makes a run; sets `record`, and `cut_off` and `overdue` where it ended early. What it throws
/// comes out of the search.
using probe_function = std::function<capacity_run(const probe_request&)>;

/// How far a search is.
struct capacity_progress {
  std::optional<double> rate;  ///< that runs now; nothing: the closed loop
  /// The estimate's ends so far; before it, the highest rate that held and the lowest that did not.
  std::optional<double> low;
  std::optional<double> high;
  progress run;  ///< of the run that is under way
};

struct capacity_options {
  const stop_request* stop = nullptr;  ///< asked between runs
  std::function<void(const capacity_progress&)> on_progress;
  /// Begins to watch the machine before the first run; without it, the record has no conditions.
  std::function<machine_watch()> watch_machine = {};
};

/// The least number of frames in a run that can show that the percentile holds: `frames_to_hold`
/// and the tenth that is not counted.
std::int64_t least_capacity_frames(double percentile);

/// So many frames that a run judges a rate unless it is close to the highest: about twelve of them
/// lie beyond the percentile. At least 100. With the closed loop's throughput known, at least what
/// takes a second, though at most 20,000 for that; and as many as `frames_for_queue` where that
/// takes at most half a minute.
std::int64_t usual_capacity_frames(const capacity_settings& how, double closed_loop = 0);

/// Searches for the highest rate at which the percentile holds. Half the throughput of the closed
/// loop comes first, since frames alone may already take too long; then one run each at rates
/// between those that hold and those that do not, until these are within a quarter of each other.
/// From there on runs are pooled, four times as long under a constant rate and twice as long under
/// `poisson`: each has arrivals of its own, at the rate that tells most by `estimate_capacity`, and
/// one that was disturbed is repeated. They end when the interval is as narrow as `within` asks
/// for, or after forty. Without a number of frames, the search decides on one as soon as it knows
/// the throughput. Ends early, with what there is, when a run fails or is interrupted, or the stop
/// request is raised.
capacity_record find_capacity(const capacity_settings& how, const probe_function& probe,
                              const capacity_options& options = {});

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
