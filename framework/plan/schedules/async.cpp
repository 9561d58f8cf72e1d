#include <algorithm>

#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// `async`: stages run in planned order. Before a CPU stage, the host waits for the device stages
/// whose results it reads, once each.
const schedule_generator async_schedule = {
    .properties = {.in_order = true},
    .steps =
        [](const plan& p) {
          using enum schedule_step::action;
          std::vector<schedule_step> steps;
          for (std::size_t s = 0; s < p.stages.size(); ++s) {
            for (const dependency& wait : p.stages[s].waits) {
              const schedule_step seen{await, wait.stage};
              const bool first = std::ranges::find(steps, seen) == steps.end();
              if (wait.how == satisfied_by::completion && first) steps.push_back(seen);
            }
            steps.push_back({p.stages[s].on == side::cpu ? run : issue, s});
          }
          return steps;
        },
};

}  // namespace graphline::planning
