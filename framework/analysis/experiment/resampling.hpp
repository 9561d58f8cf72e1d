#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/stats/confidence.hpp"
#include "framework/base/clock.hpp"

namespace graphline {

/// Durations by block, each block sorted ascending.
class pooled_times {
 public:
  /// @param blocks One sample per block, unsorted; at least one is not empty.
  explicit pooled_times(std::vector<std::vector<nanoseconds>> blocks);

  const std::vector<std::vector<nanoseconds>>& blocks() const noexcept { return blocks_; }

  /// All durations, ascending.
  const std::vector<nanoseconds>& sorted() const noexcept { return sorted_; }
  std::size_t count() const noexcept { return sorted_.size(); }

 private:
  std::vector<std::vector<nanoseconds>> blocks_;
  std::vector<nanoseconds> sorted_;
};

/// Bootstrap draws of blocks with replacement (Efron and Tibshirani, "An Introduction to the
/// Bootstrap", 1993). All metrics of an experiment use the same draws, which preserves pairing
/// within blocks.
class block_draws {
 public:
  /// Deterministic in its arguments.
  /// @pre `blocks` and `count` are at least 1.
  block_draws(std::size_t blocks, std::size_t count, std::uint64_t seed);

  std::size_t count() const noexcept { return times_.size() / blocks_; }

  /// Number of times that a draw contains each block.
  std::span<const std::uint16_t> operator[](std::size_t draw) const {
    return std::span(times_).subspan(draw * blocks_, blocks_);
  }

 private:
  std::size_t blocks_;
  std::vector<std::uint16_t> times_;  // [draw][block]
};

/// A metric and its bootstrap replicates.
struct resampled_figure {
  double value = 0;
  std::vector<double> draws;
  /// Lower limit of the standard error. For a fraction of frames it is one frame: a run without
  /// late frames does not show that none can be late.
  double least_error = 0;
};

/// Resamples a percentile (nearest rank) of the pooled durations. For large samples, replicates are
/// chosen among some thousand candidate values, mostly around the percentile, so that time depends
/// on the number of blocks only.
/// @pre `times` is not empty.
resampled_figure resample_percentile(const pooled_times& times, double p, const block_draws& draws);

/// Resamples the ratio of the sums of `above` and `below`, one value each per block.
/// @pre Values of `below` are positive.
resampled_figure resample_ratio(std::span<const double> above, std::span<const double> below,
                                const block_draws& draws);

/// Standard error of the logarithm of a metric resampled from `blocks` blocks; empty without draws,
/// or if a value is not positive.
std::optional<double> log_error(const resampled_figure& figure, std::size_t blocks);

/// Standard error of a fraction resampled from `blocks` blocks; empty without draws.
std::optional<double> share_error(const resampled_figure& figure, std::size_t blocks);

/// Comparison of a metric with that of a reference, with bootstrap errors.
class contrast {
 public:
  /// Compares metrics resampled by the same draws from `blocks` >= 2 blocks; empty if a value or
  /// replicate is not positive, so that there is no ratio.
  static std::optional<contrast> of(const resampled_figure& value,
                                    const resampled_figure& reference, std::size_t blocks);

  /// Compares fractions, which may be 0, by difference only.
  static contrast of_shares(const resampled_figure& value, const resampled_figure& reference,
                            std::size_t blocks);

  double log_ratio() const noexcept { return log_ratio_; }

  /// Standard error of the logarithm of the ratio.
  double error() const noexcept { return error_; }

  double difference() const noexcept { return difference_; }
  double difference_error() const noexcept { return difference_error_; }

  /// Studentized deviation of each replicate (logarithm of the ratio; difference of fractions) from
  /// the mean of replicates; empty without variation.
  const std::vector<double>& deviations() const noexcept { return deviations_; }

  /// Interval of the ratio: `t` standard errors on each side, in logarithms.
  interval ratio_range(double t) const;

  /// Interval of the difference, in the unit of the metric.
  interval difference_range(double t) const;

 private:
  double log_ratio_ = 0;
  double error_ = 0;
  double difference_ = 0;
  double difference_error_ = 0;
  std::vector<double> deviations_;
};

/// Level of each interval such that all hold simultaneously with 95 %: between 5 %, if all
/// contrasts are perfectly correlated, and 1 - 0.95^(1/k) for k independent ones (Sidak, 1967).
/// Differences of fractions count like logarithms of ratios.
///
/// Single-step max-T (Westfall and Young, "Resampling-Based Multiple Testing", 1993): c is the 95 %
/// quantile over draws of the largest deviation among the contrasts, in standard deviations; the
/// level is the probability that a normal variable exceeds c in magnitude.
double common_level(std::span<const contrast> contrasts);

}  // namespace graphline
