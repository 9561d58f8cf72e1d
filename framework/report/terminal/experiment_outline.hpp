#pragma once

#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// "4 configurations, 10 trials of each with 45 frames: about 1 min 20 s". `trial_times`: of one
/// trial of each configuration.
std::string experiment_in_brief(const experiment_plan& planned,
                                const std::vector<nanoseconds>& trial_times, const look& as = {});

/// What an experiment will do, for a person: every configuration with its id, what it is compared
/// with and about how long a trial takes, then how trials are run and when they end.
std::string experiment_outline(const experiment_plan& planned,
                               const std::vector<nanoseconds>& trial_times, const look& as = {});

}  // namespace graphline
