#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// Changes a schedule to launch each frame as one graph. The host then has no steps.
schedule_generator as_one_launch(schedule_generator of) {
  of.properties.one_launch = true;
  of.steps = [](const plan& /*p*/) { return std::vector<schedule_step>(); };
  return of;
}

}  // namespace graphline::planning
