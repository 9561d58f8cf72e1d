#include "framework/plan/schedules/generators.hpp"

namespace graphline::planning {

/// `overlap`: each stage runs as soon as its inputs are ready.
const schedule_generator overlap_schedule = {
    .properties = {},
    .steps = [](const plan& /*p*/) { return std::vector<schedule_step>(); },
};

}  // namespace graphline::planning
