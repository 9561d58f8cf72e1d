#pragma once

#include <cstdint>
#include <functional>

#include "framework/record/overhead_record.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

/// How the timing methods are measured against each other.
struct overhead_options {
  std::int64_t blocks = 24;  ///< trials of each method
  std::int64_t frames_per_trial =
      0;  ///< 0: so many that a trial takes about a quarter of a second, 3 to 45
  std::uint64_t order_seed = 1;  ///< of the random order within each block
  const stop_request* stop = nullptr;
  progress_function on_progress;  ///< counts trials
  /// How the machine is looked at before the first trial and after the last.
  std::function<machine_state()> at_machine = look_at_machine;
};

/// Runs every timing method that makes sense for it on one prepared pipeline, interleaved: blocks
/// of one trial per method, each block in a random order of its own. Stops early, with what there
/// is, when a run fails (its record says why) or the stop request is raised.
overhead_record run_overhead(session& s, const overhead_options& options);

}  // namespace graphline
