#pragma once

#include <optional>
#include <span>

namespace graphline {

/// How values change from the first to the last, in their unit, where a trend is beyond doubt;
/// nothing otherwise, and below `least_for_trend` values.
///
/// Beyond doubt: the Mann-Kendall test (Kendall, "Rank Correlation Methods", 1975) gives less than
/// 1 %. The change: the median of the slopes between all pairs of values (Sen, "Estimates of the
/// regression coefficient based on Kendall's tau", 1968), which single values cannot bend.
std::optional<double> change_over(std::span<const double> values);
inline constexpr std::size_t least_for_trend = 8;

}  // namespace graphline
