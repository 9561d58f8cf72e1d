#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/diff/source_diff.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {

/// A metric of one configuration in both experiments.
struct configuration_change {
  std::string name;          ///< configuration; "together: camera" if it has several pipelines
  configuration_member who;  ///< indices in the first record
  graphline::figure figure = graphline::figure::p50;
  /// Nanoseconds, frames per second, or a fraction of frames.
  before_after<std::optional<double>> values;
  before_after<std::size_t> trials = {};
  /// Simultaneous 95 % intervals of after / before and, for late frames, of after - before. Empty
  /// if an experiment has fewer than `least_blocks` trials.
  std::optional<interval> ratio_range = {};
  std::optional<interval> difference_range = {};
  graphline::verdict verdict = graphline::verdict::inconclusive;
  /// True if latency grows with trial length in either experiment; false for throughput.
  bool overloaded = false;

  /// Returns the relative change or, for late frames, the difference. Empty if a value is unknown,
  /// or if the relative change would divide by 0.
  std::optional<double> change() const noexcept;
  std::optional<interval> change_range() const noexcept;
};

struct experiment_diff {
  before_after<std::string> files;
  double margin = 0.01;                       ///< margin of the first experiment
  before_after<double> tail = {};             ///< tail percentile
  std::vector<configuration_change> changes;  ///< in the first experiment's order, then by metric
  std::vector<std::string> only_before;       ///< configurations missing in the second experiment
  std::vector<std::string> only_after;
  before_after<bool> interrupted = {};
  before_after<std::optional<std::string>> failure = {};
  std::size_t needed = least_blocks;  ///< trials of a configuration for an interval, in each
};

/// Compares two experiments by their counted trials (see `counted_trials`). Matches configurations
/// and their pipelines by name. Intervals require complete blocks. Compares tails if both
/// experiments use the same percentile.
///
/// Bootstraps each experiment separately. Adds the variances of both experiments, because they
/// share no blocks. For late frames, these are variances of the fraction; for other metrics, of the
/// logarithm. The intervals are Welch's ("The generalization of Student's problem when several
/// different population variances are involved", 1947), with the degrees of freedom rounded down.
/// Their levels follow Sidak ("Rectangular confidence regions for the means of multivariate normal
/// distributions", 1967), so that with 95 % confidence all intervals contain the true values.
experiment_diff compare(const experiment_record& before, const experiment_record& after,
                        before_after<std::string> files);

}  // namespace graphline
