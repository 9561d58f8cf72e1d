#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The stages of a run and what connects them. Times are in nanoseconds; what is not known is null.
///
///   {"stages": [{"name", "kind", "colour": "device" | "cpu" | "copy", "where", "priority",
///                "measure", "mean", "share", "parts": [name...], "reads": [tensor...],
///                "writes": [tensor...], "waits": [[stage, how]...]}...],
///    "tensors": [[name, type]...],
///    "nodes": [{"what": "input" | "stage" | "output", "of": stage or tensor, "layer", "row"}...],
///    "edges": [{"from", "to", "tensors": [...], "how", "bends": [[layer, row]...]}...],
///    "layers", "rows"}
///
/// Stages and tensors are indices into these lists, "from" and "to" into the nodes. "how" is in the
/// words of `satisfied_by`; null for what comes from an input or is an output.
nlohmann::ordered_json pipeline_data(const run_record& record, const run_summary& summary);

}  // namespace graphline
