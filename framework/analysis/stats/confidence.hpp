#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>

namespace graphline {

/// The least number from `low` to `high` of which `holds` is true, as it is of all after that one;
/// `high` where it is of none before.
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

/// Where a quantity lies with 95 % confidence, in the unit of what it was computed from.
struct interval {
  double low = 0;
  double high = 0;
  bool contains(double value) const noexcept { return low <= value && value <= high; }
};

/// The z that a standard normal variable exceeds to either side with probability `level`, so that
/// |Z| > z: 1.96 for 0.05. 0 < level < 1.
double normal_critical(double level);

/// The same for Student's t with `freedom` degrees of freedom, at least 1: 2.26 for 0.05 and 9.
double student_t_critical(double level, std::size_t freedom);

/// Ranks in a sorted sample, from 1; 0 for an end that the sample does not carry.
struct rank_interval {
  std::size_t low = 0;
  std::size_t high = 0;
};

/// The 95 % confidence interval of the percentile `p`, 0 < p < 1, as ranks of a sample of `count`
/// values that carry as much information as `independent` independent ones, at most `count`.
///
/// Of the independent values, it goes from the highest rank that lies above the percentile to the
/// lowest that lies below it with a probability of at most 2.5 % each, by the binomial distribution
/// (Conover, "Practical Nonparametric Statistics", 3rd ed. 1999, section 3.2). Each of them stands
/// for count / independent values of the sample.
rank_interval interval_ranks(double p, std::size_t independent, std::size_t count);

/// How values change from the first to the last, in their unit, where a trend is beyond doubt;
/// nothing otherwise, and below `least_for_trend` values.
///
/// Beyond doubt: the Mann-Kendall test (Kendall, "Rank Correlation Methods", 1975) gives less than
/// 1 %. The change: the median of the slopes between all pairs of values (Sen, "Estimates of the
/// regression coefficient based on Kendall's tau", 1968), which single values cannot bend.
std::optional<double> change_over(std::span<const double> values);
inline constexpr std::size_t least_for_trend = 8;

}  // namespace graphline
