#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// A line of block characters, one bar per count, in eighths of the largest. Zero is a space.
std::string bars_of(std::span<const std::size_t> counts);

/// Minimum of values for a histogram.
inline constexpr std::size_t least_for_shape = 20;

/// Scale of several histograms.
enum class scale {
  own,     ///< each has its own times
  shared,  ///< all share the times, not the heights
};

/// Histograms for the cells of a column, one per sample, shortest times left; ">" marks values far
/// beyond the bars. A text is empty for a null or too small sample; the list is empty if all are.
std::vector<std::string> shapes_of(const std::vector<const distribution*>& samples, scale on);

}  // namespace graphline
