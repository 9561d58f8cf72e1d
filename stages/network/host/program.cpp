#include "stages/network/host/program.hpp"

namespace graphline {

void host_program::place_buffers() {
  buffer_uses uses;
  for (const program_step& step : steps) {
    std::vector<std::size_t>& used = uses.emplace_back();
    for (const program_operand& operand : step.operands) used.push_back(operand.tensor.buffer);
  }
  const placed_bytes sums = graphline::place_buffers(buffers, uses);
  weights_bytes = sums.weights;
  scratch_bytes = sums.scratch;
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
      void* const begin = address_of(buffers[operand.tensor.buffer], memory);
      arguments.push_back(
          {operand.role, operand.tensor.layout, static_cast<std::byte*>(begin) + operand.offset});
    }
    operations.push_back(step.make(arguments));
  }
  return operations;
}

}  // namespace graphline
