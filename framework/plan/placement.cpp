#include "framework/plan/placement.hpp"

#include <algorithm>

namespace graphline {
namespace {

constexpr std::size_t alignment = 256;

/// A tensor or scratch with its life: from the start of a stage to the completion of others.
struct item {
  std::size_t bytes = 0;  ///< a multiple of the alignment
  side on = side::device;
  std::size_t born = 0;      ///< the stage that touches it first
  bit_set after;             ///< stages that start only when nobody touches it any more
  std::size_t* offset = {};  ///< where the answer goes
};

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::vector<item> list_items(const plan& p, const std::vector<std::size_t>& scratch,
                             placement& result) {
  std::vector<item> items;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const planned_tensor& tensor = p.tensors[t];
    if (tensor.input) continue;
    item i{aligned(tensor.type.bytes()), tensor.on, tensor.producer, bit_set(p.stages.size()),
           &result.tensor_offset[t]};
    // An output is read after the frame: no stage comes after it.
    if (!tensor.output()) {
      i.after = p.reach[tensor.producer];
      for (const std::size_t reader : tensor.consumers) i.after &= p.reach[reader];
    }
    items.push_back(std::move(i));
  }
  for (std::size_t s = 0; s < scratch.size(); ++s) {
    if (scratch[s] == 0) continue;
    items.push_back({aligned(scratch[s]), side::device, s, p.reach[s], &result.scratch_offset[s]});
  }
  return items;
}

bool may_share(const item& a, const item& b) {
  return a.after[b.born] || b.after[a.born];
}

/// Puts items of one side at offsets; answers the bytes they take together.
std::size_t place_side(std::vector<const item*> items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const item* a, const item* b) { return a->bytes > b->bytes; });
  std::vector<const item*> placed;  // by offset
  std::size_t total = 0;
  for (const item* next : items) {
    // The lowest gap between those that may be alive at the same time. Every item lies on the
    // ground or on another's end, so the total never exceeds the sum of all sizes.
    std::size_t offset = 0;
    for (const item* other : placed) {
      if (may_share(*next, *other)) continue;
      if (offset + next->bytes <= *other->offset) break;
      offset = std::max(offset, *other->offset + other->bytes);
    }
    *next->offset = offset;
    total = std::max(total, offset + next->bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [](std::size_t o, const item* other) { return o < *other->offset; }),
        next);
  }
  return total;
}

}  // namespace

placement place_buffers(const plan& p, const std::vector<std::size_t>& scratch) {
  placement result;
  result.tensor_offset.assign(p.tensors.size(), placement::none);
  result.scratch_offset.assign(p.stages.size(), placement::none);
  const std::vector<item> items = list_items(p, scratch, result);
  std::vector<const item*> on_device;
  std::vector<const item*> on_cpu;
  for (const item& i : items) {
    const bool device = i.on == side::device;
    (device ? on_device : on_cpu).push_back(&i);
    (device ? result.device_bytes_without_reuse : result.pinned_bytes_without_reuse) += i.bytes;
  }
  result.device_bytes = place_side(std::move(on_device));
  result.pinned_bytes = place_side(std::move(on_cpu));
  return result;
}

}  // namespace graphline
