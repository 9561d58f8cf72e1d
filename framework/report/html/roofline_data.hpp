#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/record/roofline_record.hpp"

namespace graphline {

/// What the page of a roofline draws. Times in nanoseconds, rates in FLOPs a second, intensities in
/// FLOPs for each byte, as numbers; null for what is not known.
///
/// {"figures": as in `summary_data`, "findings": [text...], "memory": {"value", "text"},
/// "roofs": [{"name", "value", "text", "knee", "used"}...],
/// "stages": [{"name", "kind", "what": "device" | "copy" | "cpu", a piece's figures,
///             "parts": [{"name", "by", a piece's figures}...]}...],
/// "by_gain": [index into "stages"...],
/// "calibration": {"date", "stale": [text...], "rows": [[name, at the median time, at its 90th
/// percentile, at its 10th]...]}}
///
/// A piece's figures: "flops", "bytes" (texts), "intensity", "rate" (FLOPs over the measured time),
/// "roof" (FLOPs over the least time), "arithmetic", "bound", "least", "measured", "ratio",
/// "share" (of the path; of a part that of its stage times its part of it), "beats".
nlohmann::ordered_json roofline_data(const roofline_record& record,
                                     const roofline_summary& summary);

}  // namespace graphline
