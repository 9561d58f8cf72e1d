#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// How a sample of durations is spread: counts in bins of one width, and of what lies outside them.
/// All counts together are the sample's.
struct histogram {
  nanoseconds begin = 0;            ///< of the first bin, a multiple of `width`
  nanoseconds width = 1;            ///< 1, 2 or 5 times a power of ten
  std::vector<std::size_t> counts;  ///< bin i goes from begin_of(i) to below begin_of(i + 1)
  std::size_t below = 0;            ///< shorter than `begin`
  std::size_t beyond = 0;           ///< from `end()` on

  nanoseconds begin_of(std::size_t bin) const noexcept {
    return begin + static_cast<nanoseconds>(bin) * width;
  }
  nanoseconds end() const noexcept { return begin_of(counts.size()); }
};

/// Nothing for an empty sample. The width is that of Freedman and Diaconis ("On the histogram as a
/// density estimator: L2 theory", 1981), 2 * interquartile range / cube root of n, within limits:
/// as many bins as Sturges counts (1 + log2 n) at least, `most_bins` (at least 4) at most, and
/// then a round figure, mostly a narrower one.
///
/// A tail is cut off where it lies five times as far from the median as p90 (p10), or as a
/// hundredth of the median: a few far values would squeeze the rest into a few bins.
std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins = 80);

/// Another sample in the bins of `like`, for shapes that stand below each other.
histogram counted_like(const histogram& like, std::span<const nanoseconds> sample);

}  // namespace graphline
