#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/experiment_files.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline::planning {

/// A pipeline with all that one configuration or member sets, and what came of planning it.
struct experiment_unit {
  const pipeline_file* file = nullptr;
  std::size_t index = 0;                        ///< of the configuration or member
  std::vector<const assignment*> settings;      ///< a later one wins
  std::vector<const assignment*> parameters;    ///< a later one wins
  std::optional<graphline::priority> priority;  ///< of all its streams
  bool without_priorities = false;
  /// Where settings that make no sense together are shown; unset: in the pipeline's file.
  std::optional<place> run_place;

  plan planned;
  place shown_run;  ///< where that was
  diagnostics found;
};

/// Reads, sets and plans; plug-ins go into `registry`.
void plan_unit(experiment_unit& unit, stage_registry& registry, const plan_target& target);

/// Where the experiment file says how all configurations run: its last key under `run:`. Nothing
/// when that is left to the pipeline.
std::optional<place> run_place_of(const std::vector<assignment>& run);

}  // namespace graphline::planning
