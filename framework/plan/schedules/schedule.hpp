#pragma once

#include <cstddef>
#include <vector>

#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

struct plan;

/// Properties of a schedule, for the planner and for reports.
struct schedule_properties {
  bool in_order = false;  ///< one thread executes the steps in order; else stages start when ready
  bool waits_each = false;  ///< the host waits for each device stage before the next step
  bool one_launch = false;  ///< a frame is one graph; the device calls CPU stages, one at a time

  /// Returns true if a single host thread issues all device stages and runs all CPU stages.
  bool one_host_thread() const noexcept { return in_order && !one_launch; }
};

/// A step of the host thread that executes frames.
struct schedule_step {
  enum class action {
    issue,  ///< enqueue the device stage
    run,    ///< run the CPU stage
    await,  ///< wait until the device stage is complete
  };
  action what;
  std::size_t stage;

  friend bool operator==(const schedule_step&, const schedule_step&) = default;
};

/// How the host executes each frame. After planning, all code reads this instead of the strategy.
struct schedule {
  schedule_properties properties;
  bool captures = false;  ///< whether each device stage, or the whole frame, becomes a graph
  /// Steps of the single host thread, repeated for each frame. Empty if stages start when ready or
  /// if a frame is one launch.
  std::vector<schedule_step> steps;
};

/// Returns the properties of the schedule that settings ask for.
schedule_properties properties_of(const settings& run);

namespace planning {

/// Makes the schedule of a plan after `settle_edges`. Sets `host_waits` for stages that a step
/// awaits.
schedule make_schedule(plan& p);

}  // namespace planning
}  // namespace graphline
