#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace graphline {

/// Where a quantity lies with 95 % confidence, in the unit of what it was computed from.
struct interval {
  double low = 0;
  double high = 0;
  bool contains(double value) const noexcept { return low <= value && value <= high; }
};

/// The middle value, or the mean of the two in the middle; of at least one value.
double median_of(std::vector<double> values);

/// Below this many values there is no interval: the truth lies beyond all n values, on one side or
/// the other, with probability 2^(1-n), which must not exceed the 5 % left outside.
inline constexpr std::size_t least_for_interval = 6;

/// 95 % confidence interval for the median of independent values, such as the differences between
/// two configurations run in the same block. Nothing below `least_for_interval` values.
///
/// From the k-th smallest to the k-th largest value, with the largest k for which the sign test
/// keeps 95 % (Conover, "Practical Nonparametric Statistics", 3rd ed. 1999, section 3.4). Exact for
/// values of any distribution: a trial that another program on the machine held up counts as one
/// value on one side, however far out. A mean and its interval would follow it.
std::optional<interval> median_interval(std::span<const double> values);

}  // namespace graphline
