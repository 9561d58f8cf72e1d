#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// `async`: stages run in planned order. Before a CPU stage, the host waits for the device stages
/// whose results it reads.
const schedule_generator async_schedule = {
    .properties = {.in_order = true},
    .steps =
        [](const plan& p) {
          using enum schedule_step::action;
          std::vector<schedule_step> steps;
          for (std::size_t s = 0; s < p.stages.size(); ++s) {
            for (const dependency& wait : p.stages[s].waits) {
              if (wait.how == satisfied_by::completion) steps.push_back({await, wait.stage});
            }
            steps.push_back({p.stages[s].on == side::cpu ? run : issue, s});
          }
          return steps;
        },
};

}  // namespace graphline::planning
