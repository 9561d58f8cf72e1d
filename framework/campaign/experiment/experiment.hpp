#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/campaign/experiment/trial_runner.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

class session;

struct experiment_progress {
  std::int64_t done = 0;                ///< trials, including those before a pause
  std::int64_t total = 0;               ///< maximum number of trials
  std::optional<nanoseconds> left;      ///< estimate; empty before the first trial
  std::string_view configuration = {};  ///< the configuration that runs next
};

struct experiment_options {
  /// Trials from before a pause, in order. Failed trials run again.
  std::vector<trial_record> done = {};
  const stop_request* stop = nullptr;
  std::function<void(const experiment_progress&)> on_progress = {};
  std::function<void(const trial_record&)> on_trial = {};  ///< called when a trial ends
};

/// Runs the trials of an experiment block by block. The order within a block is random and depends
/// only on the seed and the block.
///
/// If the trials are predicted, time is virtual: the sum of the trials' lengths.
///
/// Ends when one of these is true:
/// - The requested trials are done and, with `repeat_affected`, one more block for each disturbed
///   block. This at most doubles the number of blocks.
/// - The time limit is reached and the first block is complete.
/// - Every interval is narrow enough.
/// - A trial fails, `runner` throws an `error`, or the stop request is raised. Returns the trials
///   so far, without an interrupted trial.
///
/// Exceptions of `on_trial` propagate.
experiment_record run_experiment(const experiment_plan& planned, trial_runner& runner,
                                 const experiment_options& options);

/// Runs a few frames of every configuration, to find failures early. Returns the estimated time of
/// a trial of each configuration. Calls `on_progress` with the number of configurations tried.
/// @throws run_error naming the configuration; interrupted_error; and what `runner` throws
std::vector<nanoseconds> try_out(const experiment_plan& planned, trial_runner& runner,
                                 const stop_request* stop,
                                 const std::function<void(std::size_t)>& on_progress = {});

struct timing_experiment_options {
  std::int64_t trials = 24;  ///< trials of each method
  std::int64_t frames = 0;   ///< per trial; if 0, about a quarter of a second, 3 to 45 frames
  const stop_request* stop = nullptr;
  std::function<void(const experiment_progress&)> on_progress = {};
};

/// Compares the timing methods that the pipeline supports with `timing: none`. All configurations
/// use the same prepared pipeline. The plan's seed determines the random order.
experiment_record compare_timing_methods(session& s, const timing_experiment_options& options);

}  // namespace graphline
