#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// The device has the whole frame, in the strategy's order: no step is left to the host.
schedule_generator as_one_launch(schedule_generator of) {
  of.properties.one_launch = true;
  of.steps = [](const plan& /*p*/) { return std::vector<schedule_step>(); };
  return of;
}

}  // namespace graphline::planning
