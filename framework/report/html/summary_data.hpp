#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/analyze.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/terminal/floor_cells.hpp"

namespace graphline {

/// The figures of a run, as texts in the words and units of the terminal's table:
/// {"figures": [{"name", "value", "unit", "note", "tone"}...], "end_to_end": {"unit", "cells":
/// [[name, text, and of a percentile the ends of its interval]...]}, "stages": {"unit",
/// "enqueue_unit", "rows": [...]}, "graphs", "outputs":
/// [[tensor, type, checksum]...], "notes": [text...]}. What was not measured is left out. Rows of
/// stages and parts that have a floor have "least" and "ratio".
nlohmann::ordered_json summary_data(const run_record& record, const run_analysis& analysis,
                                    const floors& held);

/// What the device stages consist of: {"parts": [{"stage", "unit", "rows": [{"name", "by", "p50",
/// "share", "part"}...]}...], "operations": {"runs", "rows": [[stage, operation, calls, each us,
/// all us]...]}}; what was not taken is left out.
nlohmann::ordered_json detail_data(const run_record& record, const run_summary& summary,
                                   const floors& held);

}  // namespace graphline
