#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/analysis/experiment/validation_summary.hpp"
#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/record/roofline_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

struct run_analysis {
  run_summary summary;
  /// For the end-to-end percentiles that reports show; of a predicted run, the prediction's.
  std::vector<percentile_interval> intervals;
  /// Excludes queue waits if the end-to-end times are unsettled (see `distribution`).
  std::optional<attribution_summary> attribution;
  std::optional<roofline_summary> roofline;
};
run_analysis analyze(const run_record& record);

/// A saved run with its analysis.
struct analyzed_run {
  std::string file;  ///< as given on the command line
  run_record record;
  run_analysis analysis;
};

struct roofline_analysis {
  run_summary stages;
  std::optional<roofline_summary> roofline;  ///< empty without a calibration
  std::vector<finding> findings;  ///< includes each warning of the stage and layer runs once
};
roofline_analysis analyze(const roofline_record& record);

struct experiment_analysis {
  experiment_summary summary;
  std::optional<sweep> swept;
  std::vector<finding> findings;
};
experiment_analysis analyze(const experiment_record& record);

/// Analyzes the record with a summary that the caller has already computed.
experiment_analysis analyze(const experiment_record& record, experiment_summary summary);

struct capacity_analysis {
  capacity_summary summary;
  std::vector<finding> findings;
};
capacity_analysis analyze(const capacity_record& record);

}  // namespace graphline
