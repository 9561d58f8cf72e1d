#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Histogram of durations with bins of equal width. All counts sum to the sample size.
struct histogram {
  nanoseconds begin = 0;            ///< begin of the first bin, a multiple of `width`
  nanoseconds width = 1;            ///< 1, 2 or 5 times a power of ten
  std::vector<std::size_t> counts;  ///< bin i covers [begin_of(i), begin_of(i + 1))
  std::size_t below = 0;            ///< values below `begin`
  std::size_t beyond = 0;           ///< values at or above `end()`

  nanoseconds begin_of(std::size_t bin) const noexcept {
    return begin + static_cast<nanoseconds>(bin) * width;
  }
  nanoseconds end() const noexcept { return begin_of(counts.size()); }
};

/// Returns the histogram of a sample; empty for an empty sample. The bin width is 2 * interquartile
/// range / cube root of n (Freedman and Diaconis, "On the histogram as a density estimator: L2
/// theory", 1981), but at most range / (1 + log2 n) (Sturges). It is rounded, usually down, and
/// increased if there would be more than `most_bins` (>= 4) bins.
///
/// A value lies outside of the bins if its distance from the median exceeds both 5 % of the median
/// and five times the distance of p90 (for low values, p10) from the median. Such values would
/// compress all others into few bins.
std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins = 80);

/// Counts another sample in the bins of `like`, to draw both charts on one axis.
histogram counted_like(const histogram& like, std::span<const nanoseconds> sample);

}  // namespace graphline
