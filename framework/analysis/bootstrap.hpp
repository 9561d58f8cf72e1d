#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace graphline {

/// Where a quantity lies with 95 % confidence, in the unit of what it was computed from.
struct interval {
  double low = 0;
  double high = 0;
  bool contains(double value) const noexcept { return low <= value && value <= high; }
};

/// Below this many values there is no interval: a resample of n values draws the same one n times
/// with probability n^(1-n) and then has no spread to divide by. At 3 values that is 11 % of the
/// resamples, more than the 5 % left outside, so no finite interval exists; at 4 it is 1.6 %.
inline constexpr std::size_t least_for_interval = 4;

/// 95 % confidence interval for the mean of independent values, such as the differences between two
/// configurations run in the same block. Nothing below `least_for_interval` values.
///
/// Bootstrap-t (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, section 12.5):
/// resamples the studentised mean and cuts 2.5 % off either tail. The plain percentile bootstrap is
/// too narrow for so few values: with 5 from a normal distribution its "95 %" holds the truth 84 %
/// of the time, this one 95 %. Strong skew lowers both (log-normal, 10 values: 79 % and 90 %).
///
/// Deterministic: the same values, seed and resamples give the same interval everywhere.
std::optional<interval> mean_interval(std::span<const double> values, std::uint64_t seed = 1,
                                      std::size_t resamples = 10'000);

}  // namespace graphline
