#include "framework/plan/schedules/schedule.hpp"

#include "framework/plan/plan.hpp"
#include "framework/plan/schedules/generators.hpp"

namespace graphline {
namespace planning {
namespace {

schedule_generator generator_of(const settings& run) {
  const auto& of_strategy = [&]() -> const schedule_generator& {
    switch (run.strategy) {
      case strategy::serial:
        return serial_schedule;
      case strategy::async:
        return async_schedule;
      case strategy::overlap:
        return overlap_schedule;
    }
    return overlap_schedule;
  }();
  return run.graphs == graph_mode::frame ? as_one_launch(of_strategy) : of_strategy;
}

}  // namespace

schedule make_schedule(plan& p) {
  const schedule_generator of = generator_of(p.run);
  schedule made{of.properties, p.run.graphs != graph_mode::off, of.steps(p)};
  const auto await = [](planned_stage& stage) { stage.signals = stage.host_waits = true; };
  for (const schedule_step& step : made.steps) {
    if (step.what == schedule_step::action::await) await(p.stages[step.stage]);
  }
  if (has_window(p)) {
    for (planned_stage& stage : p.stages) {
      if (in_window(stage)) await(stage);
    }
  }
  return made;
}

}  // namespace planning

schedule_properties properties_of(const settings& run) {
  return planning::generator_of(run).properties;
}

}  // namespace graphline
