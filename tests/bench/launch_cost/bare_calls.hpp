#pragma once

#include <functional>

#include "framework/run/execute/prepared_pipeline.hpp"

namespace launch_cost {

/// What launching a stage's graph takes without Graphline: the launch alone, and between two timed
/// events. Both use the stage's own stream and executable.
struct bare_calls {
  std::function<void()> launch;
  std::function<void()> launch_between_events;
};

/// Straight calls of CUDA's, for a stage of a `cuda` device.
bare_calls cuda_calls(const graphline::bound_stage& stage);

}  // namespace launch_cost
