#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/campaign/predict/prediction.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/record/validation_record.hpp"

namespace graphline {

/// Makes a run for a round, counted from 0. Its exceptions propagate through the validation.
using validation_run = std::function<run_record(std::int64_t round)>;

/// Where the stage times come from: saved runs, or a run in each round.
using validation_source = std::variant<std::vector<prediction_source>, validation_run>;

struct validation_options {
  std::int64_t rounds = 5;
  prediction_options prediction = {};  ///< without `replicates`, `sensitivity` and `stop`
  const stop_request* stop = nullptr;  ///< polled between runs
};

/// Compares predictions with reality. Each round runs `wanted` and, without a saved source, its
/// source, in random order by the plan's seed. It then predicts `wanted` from the source. Ends
/// early, with the complete rounds, if a run fails or is interrupted, or if `stop` is raised.
/// @param run Runs `wanted`, with `timing: event`.
/// @throws input_error if the source lacks what the plan needs; a saved source is checked first
/// @throws run_error if a run fails before a round is complete
validation_record validate(const plan& wanted, const validation_run& run,
                           const validation_source& source, const validation_options& options = {});

}  // namespace graphline
