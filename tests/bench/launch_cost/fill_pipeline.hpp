#pragma once

#include "framework/plan/plan.hpp"
#include "framework/stage/stage_registry.hpp"

namespace launch_cost {

/// A registry with one kind of stage, for every device: it sets a kilobyte, the least work that
/// makes a graph.
graphline::stage_registry fill_registry();

/// Three such stages, one after the other in one stream. The first two are like any within a path;
/// the last one also marks the frame's end. `registry` must outlive the plan.
graphline::plan fill_plan(const graphline::stage_registry& registry, const std::string& backend);

}  // namespace launch_cost
