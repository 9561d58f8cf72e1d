#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// The least sample that carries the percentile `p` (0 < p < 1): with 95 % confidence at least one
/// of its values lies beyond the true percentile, 1 - p^n >= 0.95, so n = ceil(ln 0.05 / ln p)
/// (Wilks, "Determination of sample sizes for setting tolerance limits", 1941). With fewer, the
/// nearest rank says where the sample happened to end, not where the percentile is.
/// p50: 5, p90: 29, p95: 59, p99: 299, p99.9: 2995.
std::size_t samples_needed(double p);

/// "p95" for 0.95, "p99.9" for 0.999.
std::string percentile_name(double p);

/// The rank of a percentile, from 0, in a sample of `count` > 0 values in ascending order: nearest
/// rank, 0 < p < 1.
std::size_t rank_of(double p, std::size_t count);

/// What a sample of durations tells, in nanoseconds. Has at least one value.
class distribution {
 public:
  /// Nothing for an empty sample.
  static std::optional<distribution> of(std::vector<nanoseconds> sample);

  std::size_t count() const noexcept { return sorted_.size(); }

  /// All values, in ascending order.
  std::span<const nanoseconds> sorted() const noexcept { return sorted_; }

  double mean() const noexcept { return mean_; }

  /// Standard deviation of the sample (divided by n - 1); nothing for a single value.
  std::optional<double> stddev() const noexcept { return stddev_; }

  nanoseconds min() const noexcept { return sorted_.front(); }
  nanoseconds max() const noexcept { return sorted_.back(); }

  /// The middle value, the lower of two: for a robust figure of any sample, however small.
  nanoseconds median() const noexcept { return sorted_[(sorted_.size() - 1) / 2]; }

  /// The value at `rank_of(p, count())`. Nothing when the sample is smaller than
  /// `samples_needed(p)`, and where the sample has no percentiles. 0 < p < 1.
  std::optional<nanoseconds> percentile(double p) const;

  /// The same values, of which mean, standard deviation and percentiles say nothing beyond the
  /// sample, with the reason in a sentence.
  distribution unsettled(std::string why) &&;

  /// Why the sample is unsettled; empty where it is not.
  const std::string& why_unsettled() const noexcept { return why_unsettled_; }

 private:
  explicit distribution(std::vector<nanoseconds> sorted);

  std::vector<nanoseconds> sorted_;
  double mean_ = 0;
  std::optional<double> stddev_;
  std::string why_unsettled_;
};

/// The percentiles that a table of a sample has: those that take thousands of frames only where
/// they are carried.
std::span<const word<double>> percentiles_of_table(const distribution& of);

/// Why a table has no value for some of these: "too few frames: p95 needs 59, p99 needs 299", or
/// why the sample is unsettled. Empty where all have one.
std::string why_absent(const distribution& of);

/// The p50 in nanoseconds; nothing where the sample does not carry it.
std::optional<double> p50_of(const std::optional<distribution>& times);

/// The median of a sample that is not empty, the lower of two, without putting it in order.
nanoseconds lower_median(std::vector<nanoseconds> sample);

/// The middle value, or the mean of the two in the middle; of at least one value.
double median_of(std::vector<double> values);

/// Mean of values that need not be whole; the span is not empty.
double mean_of(std::span<const double> values) noexcept;

/// Sample standard deviation (n - 1), computed in two passes; nothing below two values.
std::optional<double> stddev_of(std::span<const double> values) noexcept;

}  // namespace graphline
