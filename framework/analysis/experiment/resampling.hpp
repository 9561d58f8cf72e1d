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
  /// @param blocks One sample per block, unsorted; at least one sample is not empty.
  explicit pooled_times(std::vector<std::vector<nanoseconds>> blocks);

  const std::vector<std::vector<nanoseconds>>& blocks() const noexcept { return blocks_; }

  /// Returns all durations, ascending.
  const std::vector<nanoseconds>& sorted() const noexcept { return sorted_; }
  std::size_t count() const noexcept { return sorted_.size(); }

 private:
  std::vector<std::vector<nanoseconds>> blocks_;
  std::vector<nanoseconds> sorted_;
};

/// Bootstrap draws of blocks with replacement (Efron and Tibshirani, "An Introduction to the
/// Bootstrap", 1993). All metrics of an experiment use the same draws, so that the results of a
/// block stay paired.
class block_draws {
 public:
  /// The draws depend only on the arguments.
  /// @pre `blocks` and `count` are at least 1.
  block_draws(std::size_t blocks, std::size_t count, std::uint64_t seed);

  std::size_t count() const noexcept { return times_.size() / blocks_; }

  /// Returns how many times the draw contains each block.
  std::span<const std::uint16_t> operator[](std::size_t draw) const {
    return std::span(times_).subspan(draw * blocks_, blocks_);
  }

 private:
  std::size_t blocks_;
  std::vector<std::uint16_t> times_;  // [draw][block]
};

/// How many blocks a metric is resampled from, and how many ranks ran them.
struct block_count {
  std::size_t blocks = 0;
  std::size_t ranks = 1;

  // NOLINTNEXTLINE(google-explicit-constructor): without MPI, a number of blocks is all there is
  block_count(std::size_t all, std::size_t by = 1) : blocks(all), ranks(by) {}
  std::size_t degrees_of_freedom() const noexcept { return blocks - ranks; }
};

/// A metric and its bootstrap replicates.
struct resampled_figure {
  double value = 0;
  std::vector<double> draws;
  /// Lower limit of the standard error. For a fraction of frames, this is the fraction of one
  /// frame, because a sample without late frames does not prove that frames are never late.
  double least_error = 0;
};

/// Resamples a percentile (nearest rank) of the pooled durations. For large samples, selects
/// replicates from about 25,000 values, most of them around the percentile. The time per draw then
/// depends only on the number of blocks.
/// @pre `times` is not empty
resampled_figure resample_percentile(const pooled_times& times, double p, const block_draws& draws);

/// Resamples the ratio of the sum of `above` to the sum of `below`; both have one value per block.
/// @pre Values of `below` are positive.
resampled_figure resample_ratio(std::span<const double> above, std::span<const double> below,
                                const block_draws& draws);

/// Averages a metric of each rank, weighted by the ranks' numbers of blocks: times and rates by the
/// geometric mean, fractions by the arithmetic mean. What makes a rank slower changes such averages
/// of two configurations alike, so that their ratio, or difference of fractions, is free of it.
/// @pre Draws are equally many; times and rates are positive.
resampled_figure average_of_ranks(const std::vector<resampled_figure>& of,
                                  const std::vector<double>& weights, bool fractions);

/// Returns the standard error of the logarithm of a metric resampled from `blocks` blocks; empty
/// without draws, or if a value is not positive.
std::optional<double> log_error(const resampled_figure& figure, block_count blocks);

/// Returns the standard error of a fraction resampled from `blocks` blocks, at least `least_error`;
/// empty without draws.
std::optional<double> share_error(const resampled_figure& figure, block_count blocks);

/// Comparison of a metric with that of a reference, with bootstrap errors.
class contrast {
 public:
  /// Compares metrics resampled with the same draws from blocks with degrees of freedom. Empty if a
  /// value or replicate is not positive and so has no logarithm.
  static std::optional<contrast> of(const resampled_figure& value,
                                    const resampled_figure& reference, block_count blocks);

  /// Compares fractions, which may be 0, by difference only.
  static contrast of_shares(const resampled_figure& value, const resampled_figure& reference,
                            block_count blocks);

  double log_ratio() const noexcept { return log_ratio_; }

  /// Returns the standard error of the logarithm of the ratio.
  double error() const noexcept { return error_; }

  double difference() const noexcept { return difference_; }
  double difference_error() const noexcept { return difference_error_; }

  /// Returns the studentized deviation of each replicate from the mean; empty without variation.
  /// Replicates are logarithms of ratios or, for `of_shares`, differences.
  const std::vector<double>& deviations() const noexcept { return deviations_; }

  /// Returns the interval of the ratio; its logarithm extends `t` standard errors to either side.
  interval ratio_range(double t) const;

  /// Returns the interval of the difference, in the unit of the metric.
  interval difference_range(double t) const;

 private:
  double log_ratio_ = 0;
  double error_ = 0;
  double difference_ = 0;
  double difference_error_ = 0;
  std::vector<double> deviations_;
};

/// Returns the level of each interval so that with 95 % confidence all intervals contain the true
/// values. The level is 5 % for perfectly correlated contrasts and 1 - 0.95^(1/k) for k independent
/// contrasts (Sidak, 1967).
///
/// Method: single-step max-T (Westfall and Young, "Resampling-Based Multiple Testing", 1993). c is
/// the 95 % quantile, over the draws, of the largest deviation in a draw. The level is the
/// probability that the magnitude of a standard normal variable exceeds c.
double common_level(std::span<const contrast> contrasts);

}  // namespace graphline
