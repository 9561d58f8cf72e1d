#include "stages/nn/program/program.hpp"

#include <algorithm>
#include <numeric>

namespace graphline::nn {
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

std::size_t program::add_buffer(buffer_place place, std::size_t bytes, std::size_t tensor) {
  buffers.push_back({place, bytes, tensor});
  return buffers.size() - 1;
}

std::size_t program::add_part_of(std::size_t whole, std::size_t offset, std::size_t bytes) {
  buffers.push_back({.bytes = bytes, .offset = offset, .within = whole});
  return buffers.size() - 1;
}

void program::place_buffers(const std::vector<std::vector<std::size_t>>& uses) {
  std::vector<scratch_block> lifetimes(buffers.size());
  std::vector<bool> used(buffers.size(), false);
  for (std::size_t step = 0; step < uses.size(); ++step) {
    for (std::size_t buffer : uses[step]) {
      while (buffers[buffer].within) buffer = *buffers[buffer].within;
      if (!used[buffer]) lifetimes[buffer].first = step;
      lifetimes[buffer].last = step;
      used[buffer] = true;
    }
  }

  std::vector<scratch_block> blocks;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].place == buffer_place::weights) {
      buffers[i].offset = weights_bytes;
      weights_bytes += aligned(buffers[i].bytes);
    } else if (buffers[i].place == buffer_place::scratch && used[i]) {
      blocks.push_back({buffers[i].bytes, lifetimes[i].first, lifetimes[i].last});
      owners.push_back(i);
    }
  }
  const scratch_layout layout = lay_out_scratch(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) buffers[owners[i]].offset = layout.offsets[i];
  scratch_bytes = layout.bytes;
}

std::byte* program::address_of(std::size_t buffer, const program_memory& memory) const {
  const program_buffer& of = buffers[buffer];
  if (of.within) return address_of(*of.within, memory) + of.offset;
  switch (of.place) {
    case buffer_place::input:
      return static_cast<std::byte*>(memory.inputs[of.tensor].data);
    case buffer_place::output:
      return static_cast<std::byte*>(memory.outputs[of.tensor].data);
    case buffer_place::weights:
      return memory.weights + of.offset;
    case buffer_place::scratch:
      return memory.scratch + of.offset;
  }
  return nullptr;
}

}  // namespace graphline::nn
