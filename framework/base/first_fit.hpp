#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace graphline {

/// The alignment in bytes of tensors and scratch that share one allocation.
inline constexpr std::size_t block_alignment = 256;

constexpr std::size_t aligned_bytes(std::size_t bytes) noexcept {
  return (bytes + block_alignment - 1) / block_alignment * block_alignment;
}

/// The offsets of blocks in one allocation, and its size in bytes.
struct block_layout {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

/// Places blocks of these sizes, largest first, each at the lowest aligned offset where it overlaps
/// only blocks for which `may_share(block, other)` is true, by index. Every block begins at offset
/// 0 or where another block ends, so the total never exceeds the sum of the aligned sizes.
template <class MayShare>
block_layout place_first_fit(const std::vector<std::size_t>& bytes, const MayShare& may_share) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t b) { return bytes[b]; });
  block_layout layout{std::vector<std::size_t>(bytes.size(), 0), 0};
  const auto offset_of = [&](std::size_t block) { return layout.offsets[block]; };
  std::vector<std::size_t> placed;  // in order of offset
  for (const std::size_t block : order) {
    const std::size_t size = aligned_bytes(bytes[block]);
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (may_share(block, other)) continue;
      if (offset + size <= offset_of(other)) break;
      offset = std::max(offset, offset_of(other) + aligned_bytes(bytes[other]));
    }
    layout.offsets[block] = offset;
    layout.bytes = std::max(layout.bytes, offset + size);
    placed.insert(std::ranges::upper_bound(placed, offset, {}, offset_of), block);
  }
  return layout;
}

}  // namespace graphline
