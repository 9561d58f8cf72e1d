#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Durations that were measured in blocks, each block's in ascending order.
class pooled_times {
 public:
  /// One sample per block, in any order; not all of them empty.
  explicit pooled_times(std::vector<std::vector<nanoseconds>> blocks);

  const std::vector<std::vector<nanoseconds>>& blocks() const noexcept { return blocks_; }
  std::size_t count() const noexcept { return count_; }

  /// Nearest rank among all of them, 0 < p < 1, whatever the sample carries.
  nanoseconds percentile(double p) const;

  /// Those from `least` to `most`, these included, in ascending order; of very many some 20,000,
  /// as many of each stretch of a block's order.
  std::vector<nanoseconds> outline(nanoseconds least, nanoseconds most) const;

  nanoseconds min() const noexcept { return min_; }
  nanoseconds max() const noexcept { return max_; }

 private:
  std::vector<std::vector<nanoseconds>> blocks_;
  std::size_t count_ = 0;
  nanoseconds min_ = 0;
  nanoseconds max_ = 0;
};

}  // namespace graphline
