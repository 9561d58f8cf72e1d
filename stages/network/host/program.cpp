#include "stages/network/host/program.hpp"

#include <fmt/format.h>

#include <utility>

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

program_builder::program_builder(const network_definition& network, const weight_table& weights,
                                 std::string stage)
    : network_(network),
      weights_(weights),
      stage_(std::move(stage)),
      values_(network.layers.size() + 1) {
  const dnnl::memory::desc layout = plain_layout(network.input);
  values_[0] = {add_buffer(buffer_place::input, layout.get_size()), layout};
}

std::size_t program_builder::add_buffer(buffer_place place, std::size_t bytes) {
  program_.buffers.push_back({place, bytes, 0});
  return program_.buffers.size() - 1;
}

void program_builder::set_output(std::size_t layer, program_tensor tensor) {
  values_[layer + 1] = std::move(tensor);
}

program_tensor program_builder::make_tensor(const dnnl::memory::desc& layout) {
  return {add_buffer(buffer_place::scratch, layout.get_size()), layout};
}

void program_builder::add_reorder(const program_tensor& from, const program_tensor& to,
                                  const network_layer& layer) {
  const dnnl::reorder::primitive_desc chosen(onednn_engine(), from.layout, onednn_engine(),
                                             to.layout, onednn_attributes());
  add_primitive<dnnl::reorder>("reorder", layer, chosen,
                               {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

program_tensor program_builder::in_layout(const program_tensor& tensor,
                                          const dnnl::memory::desc& wanted,
                                          const network_layer& layer) {
  if (tensor.layout == wanted) return tensor;
  program_tensor result = make_tensor(wanted);
  add_reorder(tensor, result, layer);
  return result;
}

program_tensor program_builder::in_shape(const program_tensor& tensor, const shape& wanted,
                                         const network_layer& layer) {
  const shape given(tensor.layout.dims());
  if (given == wanted) return tensor;
  return {in_layout(tensor, plain_layout(given), layer).buffer, plain_layout(wanted)};
}

program_tensor program_builder::constant(std::vector<float> values, const shape& extents,
                                         const dnnl::memory::desc& wanted) {
  const std::size_t buffer = add_buffer(buffer_place::weights, wanted.get_size());
  program_.constants.push_back({buffer, plain_layout(extents), wanted, std::move(values)});
  return {buffer, wanted};
}

void program_builder::add_primitive(std::string_view content, const network_layer& layer,
                                    const dnnl::primitive& primitive,
                                    const dnnl::primitive_desc_base& chosen,
                                    const dnnl::memory::desc& scratchpad,
                                    std::vector<program_operand> operands) {
  if (scratchpad.get_size() > 0) {
    operands.push_back({DNNL_ARG_SCRATCHPAD, make_tensor(scratchpad)});
  }
  const std::string name = operation_name(std::string(content), chosen);
  add_step({name, std::move(operands),
            [name, failing = owner(layer), primitive](
                const std::vector<onednn_argument>& arguments) -> std::unique_ptr<host_operation> {
              return std::make_unique<onednn_operation>(name, failing, primitive, arguments);
            }});
}

void program_builder::end_part(const fused_layers& group) {
  const std::size_t begin = program_.parts.empty() ? 0 : program_.parts.back().end_steps;
  const std::size_t end = program_.steps.size();
  if (end == begin) return;
  program_.parts.push_back({name_of(network_, group), cost_of(network_, group), end});
}

std::string program_builder::owner(const network_layer& layer) const {
  return fmt::format("stage '{}', layer '{}'", stage_, layer.name);
}

host_program program_builder::finish() {
  const dnnl::memory::desc plain = plain_layout(network_.shape_of(network_.layers.size()));
  const program_tensor& last = values_.back();
  program_buffer& buffer = program_.buffers[last.buffer];
  if (buffer.place == buffer_place::scratch && last.layout == plain) {
    buffer.place = buffer_place::output;
  } else {
    const program_tensor result{add_buffer(buffer_place::output, plain.get_size()), plain};
    add_reorder(last, result, network_.layers.back());
  }
  // What brings the result to where it is wanted counts with the last layers.
  if (program_.parts.empty()) {
    const fused_layers whole{.head = network_.layers.size() - 1};
    program_.parts.push_back({name_of(network_, whole), cost_of(network_, whole), 0});
  }
  program_.parts.back().end_steps = program_.steps.size();
  program_.place_buffers();
  return std::move(program_);
}

}  // namespace graphline
