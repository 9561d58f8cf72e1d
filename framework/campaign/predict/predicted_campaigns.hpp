#pragma once

#include <memory>
#include <vector>

#include "framework/campaign/capacity/capacity_search.hpp"
#include "framework/campaign/experiment/trial_runner.hpp"
#include "framework/campaign/predict/prediction.hpp"
#include "framework/campaign/predict/predictor.hpp"
#include "framework/plan/experiment_plan.hpp"

namespace graphline {

/// Makes a runner whose trials are replicates of predictions, in virtual time. All configurations
/// replay the same blocks of the same source's frames in trials with the same number, as real
/// configurations share the state of the machine in a block. Replicates of different sources differ
/// as the sources do.
/// @pre `planned` outlives the runner
/// @throws input_error that names the configuration if it cannot be predicted: it runs several
/// pipelines at once; it changes parameters or settings that stage times depend on; or as
/// `predictor`
std::unique_ptr<trial_runner> make_predicted_trials(const experiment_plan& planned,
                                                    const std::vector<prediction_source>& sources);

/// Returns a function that makes replicates as runs of a search, in virtual time. Each draws a
/// source and blocks of its frames. No run is cut off.
/// @pre `by` and `stop` outlive the function; the plan has arrivals
probe_function make_predicted_probe(predictor& by, const capacity_settings& how,
                                    const stop_request* stop = nullptr);

}  // namespace graphline
