#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// Returns the minimum sample size for an estimate of percentile `p`, 0 < p < 1. This is the
/// smallest n with 1 - p^n >= 0.95, so that with 95 % probability at least one of n values lies
/// beyond the true percentile (Wilks, "Determination of sample sizes for setting tolerance limits",
/// 1941). p50: 5, p90: 29, p95: 59, p99: 299, p99.9: 2995.
std::size_t samples_needed(double p);

/// Returns "p95" for 0.95, "p99.9" for 0.999.
std::string percentile_name(double p);

/// Returns the nearest rank of percentile `p`, 0 < p < 1, counted from 0, in a sorted sample of
/// `count` > 0 values.
std::size_t rank_of(double p, std::size_t count);

/// Summary of a nonempty sample of durations, in nanoseconds.
class distribution {
 public:
  /// Returns the distribution of a sample; empty for an empty sample.
  static std::optional<distribution> of(std::vector<nanoseconds> sample);

  std::size_t count() const noexcept { return sorted_.size(); }

  std::span<const nanoseconds> sorted() const noexcept { return sorted_; }

  double mean() const noexcept { return mean_; }

  /// Returns the sample standard deviation (n - 1); empty for a single value.
  std::optional<double> stddev() const noexcept { return stddev_; }

  nanoseconds min() const noexcept { return sorted_.front(); }
  nanoseconds max() const noexcept { return sorted_.back(); }

  /// Returns the lower median, for any sample size.
  nanoseconds median() const noexcept { return sorted_[(sorted_.size() - 1) / 2]; }

  /// Returns the value at `rank_of(p, count())`, 0 < p < 1. Empty if the sample has fewer than
  /// `samples_needed(p)` values or is unsettled.
  std::optional<nanoseconds> percentile(double p) const;

  /// Marks the sample as unsettled, which means that its mean, standard deviation and percentiles
  /// do not generalize beyond the sample. `why` is the reason for display.
  distribution unsettled(std::string why) &&;

  /// Returns why the sample is unsettled; empty if it is not.
  const std::string& why_unsettled() const noexcept { return why_unsettled_; }

 private:
  explicit distribution(std::vector<nanoseconds> sorted);

  std::vector<nanoseconds> sorted_;
  double mean_ = 0;
  std::optional<double> stddev_;
  std::string why_unsettled_;
};

/// Returns the percentiles that a table shows. Stops before the first percentile that needs more
/// than 1000 values and that the sample does not provide.
std::span<const word<double>> percentiles_of_table(const distribution& of);

/// Explains missing values of `percentiles_of_table`: "too few frames: p95 needs 59, p99 needs
/// 299", or why the sample is unsettled. Empty if no value is missing.
std::string why_absent(const distribution& of);

/// Returns p50 in nanoseconds; empty if the sample is too small or unsettled.
std::optional<double> p50_of(const std::optional<distribution>& times);

/// Returns the lower median of a nonempty sample, in linear time.
nanoseconds lower_median(std::vector<nanoseconds> sample);

/// Returns the median; for an even count, the mean of the two middle values.
/// @pre `values` is not empty.
double median_of(std::vector<double> values);

/// @pre `values` is not empty.
double mean_of(std::span<const double> values) noexcept;

/// Returns the sample standard deviation (n - 1), in two passes; empty for fewer than two values.
std::optional<double> stddev_of(std::span<const double> values) noexcept;

}  // namespace graphline
