#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// What the page of an experiment draws. Times are in nanoseconds; what is not known is null. A
/// "cell" is the text that stands in a table for a figure, the same as at the terminal. Members are
/// pipelines of configurations and are referred to by their place in "members".
///
///     {"tail": "p95", "margin": 0.01, "unit": {"name": "ms", "ns": 1e6}, "headings": [text...],
///      "several_at_once": whether configurations run more than one pipeline, "by_id": whether ids
///      stand for names, "counted_blocks": n,
///      "members": [member...], "costs": {"headings", "rows": by member},
///      "groups": [[{"who", "reference"}...]...],   what others are compared with, then these
///      "comparisons": [comparison...], "stages": [pipeline...], "trials": {columns},
///      "affected": [block...], "distributions": [{"who", "count", "percentiles", "points"}...]}
///
/// The parts are in experiment_data_parts.hpp.
nlohmann::ordered_json experiment_data(const experiment_record& record,
                                       const experiment_summary& summary);

}  // namespace graphline
