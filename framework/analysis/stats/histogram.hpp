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
  std::size_t beyond = 0;           ///< values from `end()` on

  nanoseconds begin_of(std::size_t bin) const noexcept {
    return begin + static_cast<nanoseconds>(bin) * width;
  }
  nanoseconds end() const noexcept { return begin_of(counts.size()); }
};

/// Returns the histogram of a sample; empty for an empty sample. The bin width is that of Freedman
/// and Diaconis ("On the histogram as a density estimator: L2 theory", 1981), 2 * interquartile
/// range / cube root of n, but small enough for Sturges' number of bins (1 + log2 n), and rounded,
/// usually down. It is larger if there would be more than `most_bins` (>= 4) bins.
///
/// Values lie outside of the bins if they are farther from the median than five times the distance
/// of p90 (below the median: p10) and than 5 % of the median. They would compress all other values
/// into few bins.
std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins = 80);

/// Counts another sample in the bins of `like`, to draw both charts on one axis.
histogram counted_like(const histogram& like, std::span<const nanoseconds> sample);

}  // namespace graphline
