#pragma once

#include "framework/plan/experiment_blame.hpp"
#include "framework/plan/experiment_files.hpp"
#include "framework/plan/experiment_plan.hpp"

namespace graphline::planning {

/// Adds the configurations and pairs of pipelines that run at once.
void plan_together(const experiment_spec& spec, experiment_files& files, stage_registry& registry,
                   const plan_target& target, telling_once& tell, experiment_plan& result);

}  // namespace graphline::planning
