#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// How many bytes of JSON the frames of a timeline may take.
inline constexpr std::size_t timeline_budget = 1'200'000;

/// What happened in the frames of a run, for a picture of any of them. Times are in nanoseconds.
///
///   {"total": frames of the run, "median": frame, "median_time", "slowest": frame,
///    "asked": [frame...] of `wanted`, "slow": [frame...] slowest first, "typical": [frame...],
///    "missed": [frame...], "deadline", "clock_error",
///    "lanes": [{"kind": "thread" | "stream" | "copies", "name"}...],
///    "spans": [[kind, lane, stage or null, part or null]...], "kinds": [word...],
///    "pieces": [[what, stage or null]...], "spent": [word...],
///    "frames": [[number, due, begin, end, residual, n,
///                span, begin, length (n times), piece, gap, length (to the end)]...]}
///
/// A frame is a row of whole numbers: `due` since the run's epoch and all else of it since `due`. A
/// span's `begin` is since that of the span before it, a piece's `gap` since the end of the one
/// before it; `span` and `piece` are indices into "spans" and "pieces". Frames are ascending.
///
/// All frames are kept that `budget` has room for: first those of `wanted` (numbers from 0; others
/// are passed over), which are always kept, then the median and the slowest frame and those around
/// them, more of the slowest and typical ones and of those that missed the deadline, and as many
/// evenly spaced ones as fit. "typical", "slow" and "missed" name kept ones, up to 50, 50 and 100.
nlohmann::ordered_json timeline_data(const run_record& record, const attribution_summary& summary,
                                     std::span<const std::size_t> wanted = {},
                                     std::size_t budget = timeline_budget);

}  // namespace graphline
