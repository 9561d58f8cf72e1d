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

// Each in a file of its own.
extern const schedule_generator serial_schedule;
extern const schedule_generator async_schedule;
extern const schedule_generator overlap_schedule;

/// What `graphs: frame` makes of a strategy's schedule.
schedule_generator as_one_launch(schedule_generator of);

}  // namespace graphline::planning
