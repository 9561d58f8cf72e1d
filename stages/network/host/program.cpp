#include "stages/network/host/program.hpp"

#include <algorithm>

#include "stages/network/host/scratch_layout.hpp"

namespace graphline {

namespace {

void* address_of(const program_buffer& buffer, const program_memory& memory) {
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

}  // namespace

void host_program::place_buffers() {
  // Every use of a buffer is an operand of a step: its lifetime is from the first to the last.
  std::vector<scratch_block> lifetimes(buffers.size());
  std::vector<bool> used(buffers.size(), false);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const program_operand& operand : steps[step].operands) {
      const std::size_t buffer = operand.tensor.buffer;
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
      weights_bytes += (buffers[i].bytes + 255) / 256 * 256;
    } else if (buffers[i].place == buffer_place::scratch && used[i]) {
      blocks.push_back({buffers[i].bytes, lifetimes[i].first, lifetimes[i].last});
      owners.push_back(i);
    }
  }
  const scratch_layout layout = lay_out_scratch(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) buffers[owners[i]].offset = layout.offsets[i];
  scratch_bytes = layout.bytes;
}

void host_program::load_constants(std::byte* weights) {
  dnnl::stream stream(onednn_engine());
  for (program_constant& constant : constants) {
    dnnl::memory from(constant.given, onednn_engine(), constant.values.data());
    dnnl::memory to(constant.wanted, onednn_engine(), weights + buffers[constant.buffer].offset);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  }
  constants.clear();
  constants.shrink_to_fit();
}

std::vector<std::unique_ptr<host_operation>> host_program::bind(
    const program_memory& memory) const {
  std::vector<std::unique_ptr<host_operation>> operations;
  operations.reserve(steps.size());
  for (const program_step& step : steps) {
    std::vector<onednn_argument> arguments;
    for (const program_operand& operand : step.operands) {
      arguments.push_back({operand.role, operand.tensor.layout,
                           address_of(buffers[operand.tensor.buffer], memory)});
    }
    operations.push_back(step.make(arguments));
  }
  return operations;
}

}  // namespace graphline
