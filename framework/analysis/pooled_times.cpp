#include "framework/analysis/pooled_times.hpp"

#include <algorithm>
#include <utility>

namespace graphline {

pooled_times::pooled_times(std::vector<std::vector<nanoseconds>> blocks)
    : blocks_(std::move(blocks)) {
  std::vector<std::size_t> ends = {0};  // of ascending stretches in all_
  for (auto& block : blocks_) {
    std::sort(block.begin(), block.end());
    all_.insert(all_.end(), block.begin(), block.end());
    ends.push_back(all_.size());
  }
  const auto at = [&](std::size_t i) { return all_.begin() + static_cast<std::ptrdiff_t>(ends[i]); };
  while (ends.size() > 2) {
    std::vector<std::size_t> merged = {0};
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      const std::size_t last = std::min(i + 2, ends.size() - 1);
      std::inplace_merge(at(i), at(i + 1), at(last));
      merged.push_back(ends[last]);
    }
    ends = std::move(merged);
  }
}

}  // namespace graphline
