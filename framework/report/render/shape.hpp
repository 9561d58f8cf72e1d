#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// A bar for each count, as high as its part of the largest one in eights, in one line of block
/// characters. Nothing is a space.
std::string bars_of(std::span<const std::size_t> counts);

/// Below so many values a histogram would show where they happened to lie, and is left empty.
inline constexpr std::size_t least_for_shape = 20;

/// What the bars of several histograms have in common.
enum class scale {
  own,     ///< nothing: each shows its own sample as finely as it can
  shared,  ///< the times, so that bars of the same times stand below each other; heights are own
};

/// Histograms for the cells of a column, one a sample: a bar for each of a few ranges of time, the
/// shortest times left; ">" where a few values lie far beyond the bars. Empty for null
/// and for too small a sample; no cells at all where that holds for every one.
std::vector<std::string> shapes_of(const std::vector<const distribution*>& samples, scale on);

}  // namespace graphline
