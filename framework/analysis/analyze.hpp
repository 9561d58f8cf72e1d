#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/record/roofline_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

// What each kind of result comes to, worked out once for all that is shown of it.

struct run_analysis {
  run_summary summary;
  std::vector<percentile_interval> intervals;  ///< of the percentiles shown, end to end
  /// As `attribute` gives it; without queue waits where the end-to-end times are unsettled.
  std::optional<attribution_summary> attribution;
  std::optional<roofline_summary> roofline;  ///< as `evaluate_roofline` gives it
};
run_analysis analyze(const run_record& record);

/// A saved run, for comparing it with another.
struct analyzed_run {
  std::string file;  ///< as it was given
  run_record record;
  run_analysis analysis;
};

struct roofline_analysis {
  run_summary stages;
  std::optional<roofline_summary> roofline;  ///< nothing without a calibration to compare with
  std::vector<finding> findings;             ///< with the warnings of the two runs, each once
};
roofline_analysis analyze(const roofline_record& record);

struct experiment_analysis {
  experiment_summary summary;
  std::optional<sweep> swept;
  std::vector<finding> findings;
};
experiment_analysis analyze(const experiment_record& record);

/// The same of a summary that is there already.
experiment_analysis analyze(const experiment_record& record, experiment_summary summary);

struct capacity_analysis {
  capacity_summary summary;
  std::vector<finding> findings;
};
capacity_analysis analyze(const capacity_record& record);

}  // namespace graphline
