#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// Minimum sample size for an estimate of percentile `p`, 0 < p < 1: with 95 % confidence, at least
/// one value lies beyond the true percentile, 1 - p^n >= 0.95, so n = ceil(ln 0.05 / ln p) (Wilks,
/// "Determination of sample sizes for setting tolerance limits", 1941). In a smaller sample, the
/// nearest rank only reports the sample's own extreme. p50: 5, p90: 29, p95: 59, p99: 299, p99.9:
/// 2995.
std::size_t samples_needed(double p);

/// Returns "p95" for 0.95, "p99.9" for 0.999.
std::string percentile_name(double p);

/// Nearest rank of percentile `p`, 0 < p < 1, counted from 0, in a sorted sample of `count` > 0
/// values.
std::size_t rank_of(double p, std::size_t count);

/// Summary of a nonempty sample of durations, in nanoseconds.
class distribution {
 public:
  /// Empty for an empty sample.
  static std::optional<distribution> of(std::vector<nanoseconds> sample);

  std::size_t count() const noexcept { return sorted_.size(); }

  /// Values in ascending order.
  std::span<const nanoseconds> sorted() const noexcept { return sorted_; }

  double mean() const noexcept { return mean_; }

  /// Sample standard deviation (n - 1); empty for a single value.
  std::optional<double> stddev() const noexcept { return stddev_; }

  nanoseconds min() const noexcept { return sorted_.front(); }
  nanoseconds max() const noexcept { return sorted_.back(); }

  /// Lower median; defined for any sample size.
  nanoseconds median() const noexcept { return sorted_[(sorted_.size() - 1) / 2]; }

  /// Value at `rank_of(p, count())`. Empty if the sample has fewer than `samples_needed(p)` values
  /// or is unsettled. 0 < p < 1.
  std::optional<nanoseconds> percentile(double p) const;

  /// Marks the sample as unsettled: its mean, standard deviation and percentiles do not generalize
  /// beyond the sample. `why` is a sentence.
  distribution unsettled(std::string why) &&;

  /// Reason for being unsettled; empty if settled.
  const std::string& why_unsettled() const noexcept { return why_unsettled_; }

 private:
  explicit distribution(std::vector<nanoseconds> sorted);

  std::vector<nanoseconds> sorted_;
  double mean_ = 0;
  std::optional<double> stddev_;
  std::string why_unsettled_;
};

/// Percentiles that a table shows: those that need thousands of frames only if the sample has them.
std::span<const word<double>> percentiles_of_table(const distribution& of);

/// Explains missing values of `percentiles_of_table`: "too few frames: p95 needs 59, p99 needs
/// 299", or the reason for being unsettled. Empty if none is missing.
std::string why_absent(const distribution& of);

/// p50 in nanoseconds; empty if the sample is too small.
std::optional<double> p50_of(const std::optional<distribution>& times);

/// Lower median of a nonempty sample, in linear time.
nanoseconds lower_median(std::vector<nanoseconds> sample);

/// Median, the mean of the two middle values for an even count.
/// @pre `values` is not empty.
double median_of(std::vector<double> values);

/// Arithmetic mean.
/// @pre `values` is not empty.
double mean_of(std::span<const double> values) noexcept;

/// Sample standard deviation (n - 1), in two passes; empty for fewer than two values.
std::optional<double> stddev_of(std::span<const double> values) noexcept;

}  // namespace graphline
