#include "stages/network/cuda/cuda_program.hpp"

#include <cstring>

#include "stages/weights/float_conversion.hpp"

namespace graphline {

namespace {

template <std::uint16_t (*convert)(float) noexcept>
void write_rounded(const std::vector<float>& values, std::byte* to) {
  for (const float value : values) {
    const std::uint16_t bits = convert(value);
    std::memcpy(to, &bits, sizeof bits);
    to += sizeof bits;
  }
}

}  // namespace

void cuda_program::place_buffers() {
  buffer_uses uses;
  for (const cuda_step& step : steps) {
    std::vector<std::size_t>& used = uses.emplace_back();
    for (const cuda_operand& operand : step.operands) used.push_back(operand.buffer);
    if (step.workspace) used.push_back(*step.workspace);
  }
  const placed_bytes sums = graphline::place_buffers(buffers, uses);
  weights_bytes = sums.weights;
  scratch_bytes = sums.scratch;
}

void cuda_program::write_constants(std::byte* weights) {
  for (const cuda_constant& constant : constants) {
    std::byte* to = weights + buffers[constant.buffer].offset;
    if (constant.element == dtype::float16) {
      write_rounded<half_from_float>(constant.values, to);
    } else if (constant.element == dtype::bfloat16) {
      write_rounded<bfloat16_from_float>(constant.values, to);
    } else {
      std::memcpy(to, constant.values.data(), constant.values.size() * sizeof(float));
    }
  }
  constants.clear();
  constants.shrink_to_fit();
}

std::vector<bound_step> cuda_program::bind(const program_memory& memory) const {
  std::vector<bound_step> bound;
  bound.reserve(steps.size());
  for (const cuda_step& step : steps) {
    bound_step& ready = bound.emplace_back(bound_step{&step, {}, nullptr});
    for (const cuda_operand& operand : step.operands) {
      void* const begin = address_of(buffers[operand.buffer], memory);
      ready.operands.push_back(static_cast<std::byte*>(begin) + operand.offset);
    }
    if (step.workspace) ready.workspace = address_of(buffers[*step.workspace], memory);
  }
  return bound;
}

}  // namespace graphline
