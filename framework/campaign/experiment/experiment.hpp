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

/// Processes that run blocks of an experiment while this one runs another.
class block_helpers {
 public:
  virtual ~block_helpers() = default;
  block_helpers() = default;
  block_helpers(const block_helpers&) = delete;
  block_helpers& operator=(const block_helpers&) = delete;

  virtual std::size_t count() const = 0;

  /// Has a helper, from 0, run a block. `elapsed`: time since the experiment began.
  virtual void begin(std::size_t helper, std::size_t block, nanoseconds elapsed) = 0;

  /// Waits for the trials of all blocks that were begun. Empty if the experiment must end.
  /// @throws input_error if a trial cannot be read
  virtual std::optional<std::vector<trial_record>> trials() = 0;
};

struct experiment_options {
  /// Trials from before a pause, in order. Failed trials run again.
  std::vector<trial_record> done = {};
  const stop_request* stop = nullptr;
  std::function<void(const experiment_progress&)> on_progress = {};
  /// Called when a trial ends, or has arrived from a helper.
  std::function<void(const trial_record&)> on_trial = {};
  std::optional<trial_place> place = {};   ///< of this process
  std::vector<std::string> warnings = {};  ///< about this process, kept with its trials
  block_helpers* helpers = nullptr;
};

/// Runs the trials of an experiment block by block. The order within a block is random and depends
/// only on the seed and the block. With helpers, each runs one of the next blocks meanwhile. A
/// block that another process left incomplete before a pause is replaced by a new one.
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

/// Runs the trials of one block in order.
/// @param begun When the block begins, since the experiment began.
/// @throws error naming the configuration if a trial fails; interrupted_error
std::vector<trial_record> run_block(const experiment_plan& planned, trial_runner& runner,
                                    std::size_t block, nanoseconds begun, const stop_request& stop);

/// Appends `warnings` to the warnings of every run of a trial.
void add_warnings(trial_record& trial, const std::vector<std::string>& warnings);

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
