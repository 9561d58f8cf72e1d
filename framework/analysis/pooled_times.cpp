#include "framework/analysis/pooled_times.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "framework/analysis/distribution.hpp"

namespace graphline {

pooled_times::pooled_times(std::vector<std::vector<nanoseconds>> blocks)
    : blocks_(std::move(blocks)) {
  for (auto& block : blocks_) {
    std::sort(block.begin(), block.end());
    count_ += block.size();
  }
}

nanoseconds pooled_times::percentile(double p) const {
  const std::size_t wanted = rank_of(p, count_) + 1;
  const auto up_to = [&](nanoseconds limit) {
    std::size_t count = 0;
    for (const auto& block : blocks_) {
      count += static_cast<std::size_t>(std::upper_bound(block.begin(), block.end(), limit) -
                                        block.begin());
    }
    return count;
  };
  // The least duration up to which there are that many: halving finds it without one more copy.
  nanoseconds low = std::numeric_limits<nanoseconds>::max();
  nanoseconds high = std::numeric_limits<nanoseconds>::min();
  for (const auto& block : blocks_) {
    if (block.empty()) continue;
    low = std::min(low, block.front());
    high = std::max(high, block.back());
  }
  while (low < high) {
    const nanoseconds middle = std::midpoint(low, high);
    if (up_to(middle) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::vector<nanoseconds> pooled_times::outline() const {
  constexpr std::size_t most = 20'000;
  const std::size_t step = (count_ + most - 1) / most;
  std::vector<nanoseconds> result;
  for (const auto& block : blocks_) {
    if (block.empty()) continue;
    for (std::size_t i = step / 2; i < block.size(); i += step) result.push_back(block[i]);
    if (step > 1) result.insert(result.end(), {block.front(), block.back()});
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace graphline
