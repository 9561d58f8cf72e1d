#pragma once

#include <optional>
#include <vector>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// All that more than one report of a run shows, worked out once.
struct run_analysis {
  run_summary summary;
  std::vector<percentile_interval> intervals;  ///< of the percentiles shown, end to end
  /// As `attribute` gives it; without queue waits where the end-to-end times are unsettled.
  std::optional<attribution_summary> attribution;
  std::optional<roofline_summary> roofline;  ///< as `hold_against_roofline` gives it
};

run_analysis analyse(const run_record& record);

}  // namespace graphline
