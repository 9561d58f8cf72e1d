#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

// What stands over the figures of a page about a run.

/// What a reader must know before the figures: [{"tone": "bad" | "warning", "text"}...]. `which`
/// follows the frames of a run that came to no end: " of the run for parts".
nlohmann::ordered_json notices_of(const run_record& record, const run_summary& summary,
                                  std::string_view which = {});

/// "batch=1, side=112; 300 frames after 5 warm-up".
std::string amount_of(const run_record& record);

}  // namespace graphline
