#include "stages/network/program_buffers.hpp"

#include "stages/network/scratch_layout.hpp"

namespace graphline {

placed_bytes place_buffers(std::vector<program_buffer>& buffers, const buffer_uses& uses) {
  std::vector<scratch_block> lifetimes(buffers.size());
  std::vector<bool> used(buffers.size(), false);
  for (std::size_t step = 0; step < uses.size(); ++step) {
    for (const std::size_t buffer : uses[step]) {
      if (!used[buffer]) lifetimes[buffer].first = step;
      lifetimes[buffer].last = step;
      used[buffer] = true;
    }
  }

  placed_bytes sums;
  std::vector<scratch_block> blocks;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].place == buffer_place::weights) {
      buffers[i].offset = sums.weights;
      sums.weights += (buffers[i].bytes + 255) / 256 * 256;
    } else if (buffers[i].place == buffer_place::scratch && used[i]) {
      blocks.push_back({buffers[i].bytes, lifetimes[i].first, lifetimes[i].last});
      owners.push_back(i);
    }
  }
  const scratch_layout layout = lay_out_scratch(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) buffers[owners[i]].offset = layout.offsets[i];
  sums.scratch = layout.bytes;
  return sums;
}

void* address_of(const program_buffer& buffer, const program_memory& memory) noexcept {
  switch (buffer.place) {
    case buffer_place::input:
      return memory.input;
    case buffer_place::output:
      return memory.output;
    case buffer_place::weights:
      return memory.weights + buffer.offset;
    case buffer_place::scratch:
      return memory.scratch + buffer.offset;
  }
  return nullptr;
}

}  // namespace graphline
