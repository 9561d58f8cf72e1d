#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/experiment/sweep.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// What an experiment says against the parameter that it sweeps. `record` is the experiment that
/// the sweep is of.
nlohmann::ordered_json sweep_json(const sweep& of, const experiment_record& record);

}  // namespace graphline
