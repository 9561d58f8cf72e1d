#pragma once

#include <functional>

#include "framework/run/execute/prepared_pipeline.hpp"

namespace launch_cost {

/// Launches of a stage's graph without Graphline: alone, and between two timed events. Both use the
/// stage's stream and executable.
struct bare_calls {
  std::function<void()> launch;
  std::function<void()> launch_between_events;
};

/// CUDA calls for a stage of a `cuda` device.
bare_calls cuda_calls(const graphline::bound_stage& stage);

}  // namespace launch_cost
