#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/diff/source_diff.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {

/// A figure of one configuration before and after.
struct configuration_change {
  std::string name;          ///< where several pipelines ran at once: "together: camera"
  configuration_member who;  ///< in the record before
  graphline::figure figure = graphline::figure::p50;
  /// Nanoseconds, frames a second, or a part of all frames.
  before_after<std::optional<double>> values;
  before_after<std::size_t> trials = {};
  /// Of after / before, of late frames of after - before. All intervals hold together with 95 %.
  /// Nothing below `least_blocks` trials of either.
  std::optional<interval> ratio_range = {};
  std::optional<interval> difference_range = {};
  graphline::verdict verdict = graphline::verdict::inconclusive;
  /// The latency of either grows with the length of its trials: only throughput is compared.
  bool overloaded = false;

  /// By how much it is more, as `comparison::change`; nothing unless both are known and there is
  /// something to be a part of.
  std::optional<double> change() const noexcept;
  std::optional<interval> change_range() const noexcept;
};

/// One experiment against another, configuration by configuration.
struct experiment_diff {
  before_after<std::string> files;
  double margin = 0.01;                       ///< of the first
  before_after<double> tail = {};             ///< the percentile
  std::vector<configuration_change> changes;  ///< as in the first, then by figure
  std::vector<std::string> only_before;       ///< configurations
  std::vector<std::string> only_after;
  before_after<bool> interrupted = {};
  before_after<std::optional<std::string>> failure = {};
};

/// Configurations go together by name, and so do pipelines that ran at once, with the trials that
/// each experiment's own summary counts. No interval where no block is complete. Tails are compared
/// where both experiments took the same percentile.
///
/// The trials of each experiment are drawn anew with replacement, as its own comparisons are made;
/// two experiments share no blocks, so that the variances of a figure's logarithm add up, and those
/// of shares of late frames. Welch's interval around the logarithm of the ratio, of late frames
/// around the difference ("The generalization of Student's problem when
/// several different population variances are involved", 1947), with his degrees of freedom,
/// rounded down. Widened after Sidak for the number of intervals ("Rectangular confidence regions
/// for the means of multivariate normal distributions", 1967), so that all hold together with 95 %.
/// `files`: what the two were read from.
experiment_diff compare(const experiment_record& before, const experiment_record& after,
                        before_after<std::string> files);

}  // namespace graphline
