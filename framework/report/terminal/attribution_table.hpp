#pragma once

#include <string>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// Where the time of frames went: a row for each thing on the path that bounds them, on average
/// over all frames, over those around the median and over the slowest, with what a slow frame has
/// more. What takes less than a hundredth of the frame in every column stands in one row together.
/// Each column sums to its last row but for the residual, of which a line tells where there is any.
/// Then what was found, in sentences.
std::string attribution_table(const run_record& record, const attribution_summary& summary,
                              const look& as = {});

}  // namespace graphline
