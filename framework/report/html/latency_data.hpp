#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// How the times of a run change from frame to frame, in nanoseconds: {"frames": how many,
/// "series": [{"name", "what", "frames", "times"}...], end to end first, "rows": [[first frame,
/// last frame, shortest, median, longest, frame of the longest]...], "median": {"reach", "frames",
/// "times"}, "dropped": {"count", "at": [[frame before which, how many]...]}, "deadline"}. Frames
/// are counted from 0. Series are thinned so that every spike shows; rows and the median are of all
/// frames. Null without frames.
nlohmann::ordered_json latency_data(const run_record& record, const run_summary& summary);

}  // namespace graphline
