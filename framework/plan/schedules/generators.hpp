#pragma once

#include <vector>

#include "framework/plan/plan.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline::planning {

/// A strategy: schedule properties and step generator.
struct schedule_generator {
  schedule_properties properties;
  std::vector<schedule_step> (*steps)(const plan& p);
};

extern const schedule_generator serial_schedule;
extern const schedule_generator async_schedule;
extern const schedule_generator overlap_schedule;

/// Changes a strategy's schedule as `graphs: frame` requires.
schedule_generator as_one_launch(schedule_generator of);

}  // namespace graphline::planning
