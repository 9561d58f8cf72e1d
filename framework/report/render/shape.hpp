#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// Returns a block character for each count, in eighths of the largest count; a space for zero.
std::string bars_of(std::span<const std::size_t> counts);

/// Minimum number of values for a histogram.
inline constexpr std::size_t least_for_shape = 20;

/// Scale on which several histograms are drawn.
enum class scale {
  own,     ///< each histogram has its own time axis
  shared,  ///< all share a time axis, but not the scale of heights
};

/// Returns a histogram for each sample, shortest times on the left. ">" marks values beyond the
/// bars. The text is empty for a null or small sample; the list is empty if all texts would be.
std::vector<std::string> shapes_of(const std::vector<const distribution*>& samples, scale on);

}  // namespace graphline
