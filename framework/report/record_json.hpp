#pragma once

#include <nlohmann/json.hpp>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// A run or trial without loss, every stamp in whole nanoseconds, but for the nodes of graphs.
nlohmann::ordered_json record_json(const run_record& record);
nlohmann::ordered_json record_json(const trial_record& trial);

/// The way back. Throws an `input_error` that says what is missing or of the wrong kind.
run_record run_from_json(const nlohmann::ordered_json& from);
trial_record trial_from_json(const nlohmann::ordered_json& from);

}  // namespace graphline
