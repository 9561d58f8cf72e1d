#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// How the times of a run are spread, in nanoseconds: {"deadline", "of": [{"name", "what" (a
/// stage's measure; none for the frame's), "count", "histogram": {"begin", "width", "counts",
/// "below", "beyond"}, "times", "counts" (the cumulative distribution: so many took no longer),
/// "marks":
/// [[name, ns]...]}...]}. Counts are of all frames; the cumulative distribution is thinned, its
/// tail least. Null without frames.
nlohmann::ordered_json distribution_data(const run_record& record, const run_summary& summary);

}  // namespace graphline
