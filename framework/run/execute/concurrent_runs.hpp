#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

/// One of several pipelines that run at once.
struct concurrent_run {
  std::string name;  ///< for messages
  graphline::session* session = nullptr;
  device* on = nullptr;  ///< the session's
  /// Whether its frames decide how long it takes. The others run until all such have ended.
  bool leads = false;
  std::optional<std::int64_t> frames = {};         ///< at most; default: the plan's
  std::optional<std::int64_t> warmup = {};         ///< likewise
  std::optional<std::uint64_t> arrival_seed = {};  ///< as in `run_options`
};

/// Runs sessions at once, a host thread each: they begin their measured frames together, after
/// their warm-ups, and end when those that lead have ended. Returns a record each, in order. A
/// failure of one stops the others, and so does `stop`; one that was stopped because others had
/// ended or failed is not `interrupted`. What each other's presence makes of a record is told in
/// its warnings. Throws what a session throws, once all have ended.
///
/// Sessions on one device share its clock: all their records hold the greatest error and drift that
/// was found. `session` and `on` must not be null, and at least one must lead.
std::vector<run_record> run_at_once(const std::vector<concurrent_run>& runs,
                                    const stop_request* stop);

}  // namespace graphline
