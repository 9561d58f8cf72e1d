#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Where the time of a run's frames went, in milliseconds, as it stands in `graphline.run/1`
/// under "attribution".
nlohmann::ordered_json attribution_json(const run_record& record,
                                        const attribution_summary& summary);

}  // namespace graphline
