#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Percentiles of durations that keep coming in: each takes constant time and no further memory,
/// whatever their number. Counts in bins that grow with the duration, 256 from each power of two to
/// the next, after Tene's HdrHistogram: a percentile is off by less than 0.2 %.
class running_percentiles {
 public:
  running_percentiles();

  /// Below zero counts as zero.
  void add(nanoseconds duration) noexcept;

  std::size_t count() const noexcept { return count_; }

  /// Exact; nothing without durations.
  std::optional<nanoseconds> max() const noexcept;

  /// The middle of the bin that holds the value at `rank_of(p, count())`, at most `max()`. Nothing
  /// below `samples_needed(p)`. 0 < p < 1.
  std::optional<nanoseconds> percentile(double p) const;

 private:
  std::vector<std::uint64_t> bins_;
  std::size_t count_ = 0;
  nanoseconds max_ = 0;
};

}  // namespace graphline
