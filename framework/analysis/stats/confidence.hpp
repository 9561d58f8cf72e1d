#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>

namespace graphline {

/// Returns the smallest number in [`low`, `high`) that satisfies `holds`, or `high` if none does.
/// @pre `holds` is monotone: if it is true for a number, it is true for all larger numbers.
template <std::integral Number, std::predicate<Number> Holds>
Number first_that(Number low, Number high, Holds holds) {
  while (low < high) {
    const Number middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// A confidence interval (95 % unless stated otherwise), in the unit of the estimate.
struct interval {
  double low = 0;
  double high = 0;
  bool contains(double value) const noexcept { return low <= value && value <= high; }
};

/// Probability on each side of a 95 % interval.
inline constexpr double outside_95 = 0.025;

/// Returns z with P(|Z| > z) = `level` for a standard normal Z, 0 < `level` < 1; 1.96 for 0.05.
double normal_critical(double level);

/// Returns the two-sided critical value of Student's t at `level` for `freedom` >= 1 degrees of
/// freedom; 2.26 for 0.05 and 9.
double student_t_critical(double level, std::size_t freedom);

/// Ranks in a sorted sample, counted from 1. A rank is 0 if the sample is too small for it.
struct rank_interval {
  std::size_t low = 0;
  std::size_t high = 0;
};

/// Returns ranks whose values enclose percentile `p` with 95 % confidence, 0 < p < 1, for a sample
/// of `count` values with an effective sample size of `independent` <= `count`.
///
/// The ranks are binomial, for a sample of `independent` values (Conover, "Practical Nonparametric
/// Statistics", 3rd ed. 1999, section 3.2), and scaled by count / independent. `low` is the highest
/// rank whose value exceeds the percentile with a probability of at most 2.5 %. `high` is the
/// lowest rank whose value is below the percentile with at most this probability.
/// @param outside Probability on each side instead of 2.5 %.
rank_interval interval_ranks(double p, std::size_t independent, std::size_t count,
                             double outside = outside_95);

/// Estimates the change from the first value to the last, in the unit of the values; empty without
/// a significant trend or below `least_for_trend` values.
///
/// Significance: Mann-Kendall test at 1 % (Kendall, "Rank Correlation Methods", 1975). Estimate:
/// median of the slopes between all pairs of values, robust against outliers (Sen, "Estimates of
/// the regression coefficient based on Kendall's tau", 1968).
std::optional<double> change_over(std::span<const double> values);
inline constexpr std::size_t least_for_trend = 8;

}  // namespace graphline
