#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// CPU stages in planned order; each device stage as soon as all that it waits for is issued or has
/// run, before the host goes on to the next CPU stage.
const schedule_generator early_schedule = {
    .properties = {.in_order = true},
    .steps =
        [](const plan& p) {
          using enum schedule_step::action;
          std::vector<schedule_step> steps;
          std::vector<bool> begun(p.stages.size(), false);
          const auto issue_ready = [&] {
            for (std::size_t s = 0; s < p.stages.size(); ++s) {
              bool ready = p.stages[s].on == side::device && !begun[s];
              for (const dependency& wait : p.stages[s].waits) ready = ready && begun[wait.stage];
              if (ready) steps.push_back({issue, s});
              begun[s] = begun[s] || ready;
            }
          };
          for (std::size_t s = 0; s < p.stages.size(); ++s) {
            issue_ready();
            if (p.stages[s].on == side::device) continue;
            for (const dependency& wait : p.stages[s].waits) {
              if (wait.how == satisfied_by::completion) steps.push_back({await, wait.stage});
            }
            steps.push_back({run, s});
            begun[s] = true;
          }
          issue_ready();
          return steps;
        },
};

}  // namespace graphline::planning
