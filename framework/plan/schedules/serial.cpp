#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// `serial`: stages run in planned order, and each device stage is complete before the next step.
const schedule_generator serial_schedule = {
    .properties = {.in_order = true, .waits_each = true},
    .steps =
        [](const plan& p) {
          using enum schedule_step::action;
          std::vector<schedule_step> steps;
          for (std::size_t s = 0; s < p.stages.size(); ++s) {
            if (p.stages[s].on == side::cpu) {
              steps.push_back({run, s});
            } else {
              steps.push_back({issue, s});
              steps.push_back({await, s});
            }
          }
          return steps;
        },
};

}  // namespace graphline::planning
