#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "framework/base/stop_request.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

struct prediction_options {
  std::map<std::string, double> scale = {};  ///< factor of a stage's time, by name
  std::optional<int> cores = {};             ///< for CPU stages; default: the source's
  std::int64_t replicates = 200;             ///< runs for the intervals; fewer for long runs
  bool sensitivity = false;                  ///< also predict the run with each stage 10 % faster
  const stop_request* stop = nullptr;
  /// Called after each replicate with the number done and the number wanted.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress = {};
};

/// Predicts a run of a plan by executing it in virtual time, with stage times of a recorded run.
/// The same arguments give the same record on every machine.
///
/// - Frames of the prediction replay the source's frames in order, so that times which vary
/// together
///   stay together. The source's frames that the process stood still in are left out.
/// - Overheads come from the source: the issue time of each device stage and frame, and the medians
///   of completion delay, wake-up and device start (docs/prediction.md).
/// - The intervals are the 2.5th and 97.5th percentiles of replicates. A replicate draws blocks of
///   the source's frames (circular block bootstrap, Politis and Romano 1992), then blocks of these
///   for the frames of the run, so that it varies as the source and a real run of this length do.
///   The distance of both ends from the median is widened by Student's t for the source's blocks.
/// @param source Measured with `timing: event`.
/// @param source_name For messages and the record.
/// @throws input_error if the source lacks what the plan needs, with the reason and the remedy
/// @throws interrupted_error if `stop` is raised before the first run is complete
run_record predict(const plan& p, const run_record& source, const std::string& source_name,
                   const prediction_options& options = {});

}  // namespace graphline
