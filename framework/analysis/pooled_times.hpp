#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// Durations that were measured in blocks, each block's and all of them together in ascending
/// order.
class pooled_times {
 public:
  /// One sample per block, in any order.
  explicit pooled_times(std::vector<std::vector<nanoseconds>> blocks);

  const std::vector<std::vector<nanoseconds>>& blocks() const noexcept { return blocks_; }
  const std::vector<nanoseconds>& all() const noexcept { return all_; }

 private:
  std::vector<std::vector<nanoseconds>> blocks_;
  std::vector<nanoseconds> all_;
};

}  // namespace graphline
