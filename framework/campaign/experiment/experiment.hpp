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

/// How far an experiment is.
struct experiment_progress {
  std::int64_t done = 0;            ///< trials, those of before a pause among them
  std::int64_t total = 0;           ///< trials at most
  std::optional<nanoseconds> left;  ///< at most, by the trials so far; nothing before there are any
  std::string_view configuration = {};  ///< name of the one that runs next
};

struct experiment_options {
  /// Trials of before a pause, in order; not repeated, but for those that failed, which are left
  /// out.
  std::vector<trial_record> done = {};
  const stop_request* stop = nullptr;
  std::function<void(const experiment_progress&)> on_progress = {};
  std::function<void(const trial_record&)> on_trial = {};  ///< each new trial, as it ends
};

/// Runs the trials of an experiment block by block, each block in a random order that depends on
/// the seed and the block alone.
///
/// Ends after the trials asked for and, where affected blocks are repeated, as many further blocks
/// as make up for them, at most as many again; at the time limit, though not before the first
/// block; or when every interval is narrow enough. Early, with what there is, when a trial fails,
/// `runner` throws or the stop request is raised: a trial that this cuts short is left out. Throws
/// what `on_trial` throws.
experiment_record run_experiment(const experiment_plan& planned, trial_runner& runner,
                                 const experiment_options& options);

/// Tries every configuration with a few frames, so that what cannot be prepared or fails at once is
/// found before hours have passed, and answers about how long one trial of each takes. Throws
/// `run_error` naming the configuration, `interrupted_error`, and what `runner` throws.
/// `on_progress` is told how many configurations were tried.
std::vector<nanoseconds> try_out(const experiment_plan& planned, trial_runner& runner,
                                 const stop_request* stop,
                                 const std::function<void(std::size_t)>& on_progress = {});

/// How the timing methods are measured against each other.
struct timing_experiment_options {
  std::int64_t trials = 24;  ///< of each method
  std::int64_t frames = 0;   ///< of a trial; 0: about a quarter of a second of them, 3 to 45
  const stop_request* stop = nullptr;
  std::function<void(const experiment_progress&)> on_progress = {};
};

/// Compares every timing method that makes sense for it with none, on one prepared pipeline: an
/// experiment whose configurations share stages, memory and graphs, so that nothing but the timing
/// differs. The plan's seed is that of the random order.
experiment_record compare_timing_methods(session& s, const timing_experiment_options& options);

}  // namespace graphline
