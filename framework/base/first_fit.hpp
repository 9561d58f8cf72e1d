#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace graphline {

/// Alignment in bytes of the tensors and scratch memory that share one allocation.
inline constexpr std::size_t block_alignment = 256;

constexpr std::size_t aligned_bytes(std::size_t bytes) noexcept {
  return (bytes + block_alignment - 1) / block_alignment * block_alignment;
}

/// Offsets of blocks within one allocation, and the size of the allocation in bytes.
struct block_layout {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

/// Places blocks of the given sizes in one allocation, largest first, each at the lowest possible
/// offset. Two blocks may overlap if `may_share(block, other)` is true for their indices. The total
/// never exceeds the sum of the aligned sizes.
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
