#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Histogram of durations with bins of equal width and outlier counts. All counts sum to the sample
/// size.
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

/// Empty for an empty sample. The bin width is that of Freedman and Diaconis ("On the histogram as
/// a density estimator: L2 theory", 1981), 2 * interquartile range / cube root of n, limited to at
/// least Sturges' number of bins (1 + log2 n) and at most `most_bins` (>= 4), then rounded to a
/// round number, usually down.
///
/// Cuts off a tail farther from the median than five times the distance of p90 (p10), or of 1 % of
/// the median: few outliers would compress all other values into few bins.
std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins = 80);

/// Counts another sample in the bins of `like`, for charts below each other.
histogram counted_like(const histogram& like, std::span<const nanoseconds> sample);

}  // namespace graphline
