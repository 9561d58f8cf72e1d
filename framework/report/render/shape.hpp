#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// Returns a bar for each count, of block characters in eighths of the largest; a space for zero.
std::string bars_of(std::span<const std::size_t> counts);

/// A histogram needs at least this many values.
inline constexpr std::size_t least_for_shape = 20;

/// Scale on which several histograms are drawn.
enum class scale {
  own,     ///< each histogram has its own range of times
  shared,  ///< all share a range of times, but each has its own heights
};

/// Returns a histogram for each sample, shortest times on the left. ">" marks values far beyond the
/// bars. A text is empty if its sample is null or too small; the list is empty if all are.
std::vector<std::string> shapes_of(const std::vector<const distribution*>& samples, scale on);

}  // namespace graphline
