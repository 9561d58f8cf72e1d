#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/diff/source_diff.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {

/// A metric of one configuration before and after.
struct configuration_change {
  std::string name;          ///< of concurrent pipelines "together: camera"
  configuration_member who;  ///< index in the record before
  graphline::figure figure = graphline::figure::p50;
  /// Nanoseconds, frames per second, or a fraction of frames.
  before_after<std::optional<double>> values;
  before_after<std::size_t> trials = {};
  /// Interval of after / before or, for late frames, of after - before. Simultaneous 95 %
  /// intervals. Empty if either side has fewer than `least_blocks` trials.
  std::optional<interval> ratio_range = {};
  std::optional<interval> difference_range = {};
  graphline::verdict verdict = graphline::verdict::inconclusive;
  /// Latency of either side grows with the length of its trials: only throughput is compared.
  bool overloaded = false;

  /// Relative or, for late frames, absolute change, as in `comparison::change`; empty if a value is
  /// unknown or the reference is 0.
  std::optional<double> change() const noexcept;
  std::optional<interval> change_range() const noexcept;
};

/// Comparison of two experiments by configuration.
struct experiment_diff {
  before_after<std::string> files;
  double margin = 0.01;                       ///< margin of the first experiment
  before_after<double> tail = {};             ///< tail percentile
  std::vector<configuration_change> changes;  ///< in the order of the first, then by metric
  std::vector<std::string> only_before;       ///< configurations missing after
  std::vector<std::string> only_after;
  before_after<bool> interrupted = {};
  before_after<std::optional<std::string>> failure = {};
};

/// Compares two experiments. Matches configurations, and concurrent pipelines within them, by name,
/// over the trials that each summary counts. Intervals require complete blocks. Tails are compared
/// if both experiments use the same percentile.
///
/// Each experiment is bootstrapped separately, as for its own comparisons; the two share no blocks,
/// so the variances of a metric's logarithm (of the fraction of late frames) add up. Intervals are
/// Welch's for the logarithm of the ratio or, for late frames, for the difference ("The
/// generalization of Student's problem when several different population variances are involved",
/// 1947), with his degrees of freedom, rounded down. Levels are adjusted for the number of
/// intervals after Sidak ("Rectangular confidence regions for the means of multivariate normal
/// distributions", 1967), so that all hold simultaneously with 95 %.
/// @param files Names of the files of the two results.
experiment_diff compare(const experiment_record& before, const experiment_record& after,
                        before_after<std::string> files);

}  // namespace graphline
