#include "stages/nn/cuda/cuda_program.hpp"

#include <utility>

#include "stages/nn/weights/float_conversion.hpp"

namespace graphline::nn {

void cuda_program::enqueue(stream& s, const bound_cuda_step& bound) {
  const cuda_step& step = *bound.step;
  if (const auto* kernel = std::get_if<kernel_form>(&step.work)) {
    enqueue_kernel(*kernel, bound.operands, s.native(), step.owner);
  } else {
    std::get<std::shared_ptr<library_operation>>(step.work)->enqueue(s.native(), bound.operands,
                                                                     bound.workspace);
  }
}

void cuda_program::add_kernel(kernel_form form, std::vector<cuda_operand> operands,
                              const std::string& owner) {
  steps.push_back({std::move(form), std::move(operands), {}, owner});
}

void cuda_program::add_calls(std::shared_ptr<library_operation> operation,
                             std::vector<std::vector<cuda_operand>> calls,
                             const std::string& owner) {
  std::optional<std::size_t> workspace;
  if (operation->workspace_bytes() > 0) {
    workspace = add_buffer(buffer_place::scratch, operation->workspace_bytes());
  }
  for (std::vector<cuda_operand>& operands : calls) {
    steps.push_back({operation, std::move(operands), workspace, owner});
  }
}

void cuda_program::place_buffers() {
  std::vector<std::vector<std::size_t>> uses;
  for (const cuda_step& step : steps) {
    std::vector<std::size_t>& used = uses.emplace_back();
    for (const cuda_operand& operand : step.operands) used.push_back(operand.buffer);
    if (step.workspace) used.push_back(*step.workspace);
  }
  program::place_buffers(uses);
}

void cuda_program::write_constants(std::byte* weights) {
  for (const cuda_constant& constant : constants) {
    write_elements(constant.element, constant.values, weights + buffers[constant.buffer].offset);
  }
  constants.clear();
  constants.shrink_to_fit();
}

std::vector<bound_cuda_step> cuda_program::bind(const program_memory& memory) const {
  std::vector<bound_step> bound;
  for (const cuda_step& step : steps) {
    bound_step& ready = bound.emplace_back(bound_step{&step, {}, nullptr});
    for (const cuda_operand& operand : step.operands) {
      ready.operands.push_back(address_of(operand.buffer, memory) + operand.offset);
    }
    if (step.workspace) ready.workspace = address_of(*step.workspace, memory);
  }
  return bound;
}

}  // namespace graphline::nn
