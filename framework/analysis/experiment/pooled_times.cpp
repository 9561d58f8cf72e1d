#include "framework/analysis/experiment/pooled_times.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

pooled_times::pooled_times(std::vector<std::vector<nanoseconds>> blocks)
    : blocks_(std::move(blocks)) {
  min_ = std::numeric_limits<nanoseconds>::max();
  max_ = std::numeric_limits<nanoseconds>::min();
  for (auto& block : blocks_) {
    if (block.empty()) continue;
    std::sort(block.begin(), block.end());
    count_ += block.size();
    min_ = std::min(min_, block.front());
    max_ = std::max(max_, block.back());
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
  nanoseconds low = min_;
  nanoseconds high = max_;
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

std::vector<nanoseconds> pooled_times::outline(nanoseconds least, nanoseconds most) const {
  constexpr std::size_t enough = 20'000;
  const auto within = [&](const std::vector<nanoseconds>& block) {
    return std::span(std::lower_bound(block.begin(), block.end(), least),
                     std::upper_bound(block.begin(), block.end(), most));
  };
  std::size_t count = 0;
  for (const auto& block : blocks_) count += within(block).size();
  const std::size_t step = (count + enough - 1) / enough;
  std::vector<nanoseconds> result;
  for (const auto& block : blocks_) {
    const auto part = within(block);
    for (std::size_t i = step / 2; i < part.size(); i += step) result.push_back(part[i]);
  }
  if (step > 1) result.insert(result.end(), {least, most});
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace graphline
