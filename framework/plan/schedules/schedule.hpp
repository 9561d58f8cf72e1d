#pragma once

#include <cstddef>
#include <vector>

#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

struct plan;

/// Properties of a schedule, for the planner and for reports.
struct schedule_properties {
  bool in_order = false;    ///< one thread goes through the steps; else stages start when ready
  bool waits_each = false;  ///< the host waits for each device stage before it goes on
  bool one_launch =
      false;  ///< a frame is one graph; the device calls its CPU stages, one at a time

  /// One host thread issues every device stage and runs every CPU stage.
  bool one_host_thread() const noexcept { return in_order && !one_launch; }
};

/// One step of the host thread that carries frames out.
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

/// How the host executes each frame. Code after the planner reads only this, never a strategy's
/// name.
struct schedule {
  schedule_properties properties;
  bool captures = false;  ///< device stages are captured: each into a graph, or the whole frame
  /// Steps of the single host thread, repeated for each frame. Empty for ready-driven schedules and
  /// for frames that are one launch.
  std::vector<schedule_step> steps;
};

/// The properties of the schedule that settings ask for.
schedule_properties properties_of(const settings& run);

namespace planning {

/// The schedule of a plan whose edges are settled. Marks the stages that a step awaits.
schedule make_schedule(plan& p);

}  // namespace planning
}  // namespace graphline
