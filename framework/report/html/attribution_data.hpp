#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Where the time of all frames went. Times are in nanoseconds a frame; what is not known is null.
///
///   {"rows": [{"what", "stage": index or null, "all", "typical", "slowest"}...],
///    "end_to_end": {"all", "typical", "slowest"}, "residual": {...}, "largest_residual",
///    "frames": {"all", "typical", "slowest"} how many, "clock_error",
///    "stages": [{"on_path", "off_path", "share_of_frames"}...], "running": from begin to end,
///    "best_by_plan", "best_by_edges", "critical": [stage...], "findings": [sentence...]}
nlohmann::ordered_json attribution_data(const run_record& record,
                                        const attribution_summary& summary);

}  // namespace graphline
