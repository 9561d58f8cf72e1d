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
  nanoseconds begin = 0;  ///< of the first bin, a multiple of `width`
  nanoseconds width = 1;  ///< 1, 2 or 5 times a power of ten
  std::vector<std::size_t>
      counts;  ///< bin i holds begin + i * width <= time < begin + (i+1) * width

  std::size_t below = 0;   ///< shorter than `begin`
  std::size_t beyond = 0;  ///< from `end()` on
  /// The percentile above which (and, mirrored, below which) the sample was cut off, since a few
  /// far values would have squeezed the rest into a few bins; nothing where all of it is shown.
  std::optional<double> cut_below;
  std::optional<double> cut_beyond;

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
/// A tail is cut off at the highest of p99.9, p99 and p95 (mirrored: p0.1, p1, p5) from which it is
/// no longer than five times the way from the median to p90 (p10), at p95 (p5) where none is.
std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins = 80);

/// Another sample in the bins of `like`, for shapes that stand below each other.
histogram counted_like(const histogram& like, std::span<const nanoseconds> sample);

}  // namespace graphline
