#include "stages/network/scratch_layout.hpp"

#include <algorithm>
#include <numeric>

namespace graphline {

namespace {

constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

scratch_layout lay_out_scratch(const std::vector<scratch_block>& blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });

  scratch_layout layout{std::vector<std::size_t>(blocks.size(), 0), 0};
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t block : order) {
    const scratch_block& wanted = blocks[block];
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      const scratch_block& taken = blocks[other];
      const bool together = taken.first <= wanted.last && wanted.first <= taken.last;
      if (!together) continue;
      if (offset + aligned(wanted.bytes) <= layout.offsets[other]) break;
      offset = std::max(offset, layout.offsets[other] + aligned(taken.bytes));
    }
    layout.offsets[block] = offset;
    layout.bytes = std::max(layout.bytes, offset + aligned(wanted.bytes));
    const auto later = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](std::size_t at, std::size_t other) { return at < layout.offsets[other]; });
    placed.insert(later, block);
  }
  return layout;
}

}  // namespace graphline
