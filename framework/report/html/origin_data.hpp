#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

// What made a result: {"settings": [[name, value]...], "device": ..., "environment": ...,
// "sources": [{"file", "text"}...]}, all of it text.

nlohmann::ordered_json origin_data(const run_record& record);
nlohmann::ordered_json origin_data(const experiment_record& record);

}  // namespace graphline
