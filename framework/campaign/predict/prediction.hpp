#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
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
  /// Longest times of stages, by name. Unless empty, the prediction has a `worst_case`.
  std::map<std::string, nanoseconds> at_most = {};
  const stop_request* stop = nullptr;
  /// Called after each replicate with the number done and the number wanted.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress = {};
};

/// A measured run that a prediction takes stage times from.
struct prediction_source {
  std::string name;  ///< for messages and the record
  run_record run;
};

/// Predicts a run of a plan by executing it in virtual time, with stage times of recorded runs. The
/// same arguments give the same record on every machine.
///
/// - Frames of the prediction replay the sources' frames in order, an equal part of each source, so
///   that times which vary together stay together. Frames that a standstill delayed are left out.
/// - Overheads come from the sources: the issue time of each device stage and frame, and
///   `source_overheads`.
/// - The 95 % intervals come from replicates. A replicate draws blocks of a source's frames
///   (circular block bootstrap, Politis and Romano 1992), then blocks of these for the frames of
///   the run, so that it varies as the source and a real run of this length do. This variation is
///   widened by Student's t for the source's blocks. Several sources add the variation from run to
///   run, by Student's t for a further run.
/// @param sources At least one; measured with `timing: event` and the same settings.
/// @throws input_error if a source lacks what the plan needs, with the reason and the remedy
/// @throws interrupted_error if `stop` is raised before the first run is complete
run_record predict(const plan& p, const std::vector<prediction_source>& sources,
                   const prediction_options& options = {});

}  // namespace graphline
