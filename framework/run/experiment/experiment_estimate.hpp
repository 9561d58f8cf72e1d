#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/run/experiment/trial_runner.hpp"

namespace graphline {

/// Tries every configuration with a few frames, so that what cannot be prepared or fails at once is
/// found before hours have passed, and answers about how long one trial of each takes. Throws
/// `run_error` naming the configuration, `interrupted_error`, and what `runner` throws.
/// `on_progress` is told how many configurations were tried.
std::vector<nanoseconds> try_out(const experiment_plan& planned, trial_runner& runner,
                                 const stop_request* stop,
                                 const std::function<void(std::size_t)>& on_progress = {});

}  // namespace graphline
