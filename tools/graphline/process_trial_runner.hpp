#pragma once

#include <memory>

#include "framework/plan/experiment_plan.hpp"
#include "framework/run/experiment/trial_runner.hpp"
#include "tools/graphline/experiment_arguments.hpp"

namespace graphline {

/// Runs each trial in a process of its own: this program again, as `graphline trial`. Nothing that
/// a trial leaves behind (memory, caches of libraries, threads) then reaches the next one. Both
/// arguments must outlive the runner.
std::unique_ptr<trial_runner> make_process_trial_runner(const experiment_arguments& options,
                                                        const experiment_plan& planned);

}  // namespace graphline
