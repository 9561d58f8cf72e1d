#include "stages/nn/host/lowering.hpp"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <variant>

#include "framework/base/error.hpp"

namespace graphline::nn {

host_program lower_network_for_host(const network_definition& network, const weight_table& weights,
                                    const host_target& target) {
  program_builder builder(network, weights, target.owner);
  for (const fused_layers& group : fuse_programs(network)) {
    const network_layer& head = network.layers[group.head];
    try {
      std::visit(
          [&](const auto& operation) {
            if constexpr (requires { lower(builder, group, operation); }) {
              lower(builder, group, operation);
            } else {
              lower_element_wise(builder, group);
            }
          },
          head.operation);
      builder.end_part(group);
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format("{}: oneDNN cannot prepare it for {}: {} ({})",
                                  builder.owner(head), to_string(network.input_of(head)), e.what(),
                                  dnnl_status2str(e.status)));
    }
  }
  host_program made = builder.finish(target.asked);
  made.flush_denormals = target.flush_denormals;
  if (!made.flush_denormals) {
    for (program_part& part : made.parts) part.choice += "; keeps denormals";
  }
  return made;
}

program_builder::program_builder(const network_definition& network, const weight_table& weights,
                                 std::string owner)
    : network_builder(network, weights, std::move(owner), ", ", {}),
      values_(network.values.size()) {
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const dnnl::memory::desc layout = plain_layout(network.shape_of(network.inputs[i]));
    values_[network.inputs[i]] = {program_.add_buffer(buffer_place::input, layout.get_size(), i),
                                  layout};
  }
}

const program_tensor& program_builder::value(std::size_t index) {
  program_tensor& value = values_[index];
  if (value.layout.is_zero()) {
    const shape& extents = network().shape_of(index);
    value = constant(weights().of(index), extents, plain_layout(extents));
  }
  return value;
}

program_tensor program_builder::plain_input_of(const network_layer& layer, std::size_t which) {
  return in_layout(input_of(layer, which), plain_layout(network().shape_of(layer.inputs[which])),
                   layer);
}

program_tensor program_builder::make_tensor(const dnnl::memory::desc& layout) {
  return {program_.add_buffer(buffer_place::scratch, layout.get_size()), layout};
}

bool program_builder::lay_within(const program_tensor& tensor, const program_tensor& whole,
                                 std::size_t offset) {
  program_buffer& buffer = program_.buffers[tensor.buffer];
  if (buffer.place != buffer_place::scratch || buffer.within) return false;
  buffer.within = whole.buffer;
  buffer.offset = offset;
  return true;
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

program_tensor program_builder::constant(std::span<const float> values,
                                         const dnnl::memory::desc& given,
                                         const dnnl::memory::desc& wanted) {
  const std::size_t buffer = program_.add_buffer(buffer_place::weights, wanted.get_size());
  program_.constants.push_back({buffer, given, wanted, {values.begin(), values.end()}});
  return {buffer, wanted};
}

program_tensor program_builder::vector_of(const network_layer& layer, std::size_t input) {
  const std::span<const float> values = weights().of(layer, input);
  const shape extent{static_cast<std::int64_t>(values.size())};
  return constant(values, extent, plain_layout(extent));
}

void program_builder::add_step(host_step step) {
  note(step.name);
  program_.steps.push_back(std::move(step));
}

void program_builder::end_part(const fused_layers& group) {
  for (const std::size_t i : outputs_of(group)) {
    program_tensor& given = values_[network().outputs[i]];
    const dnnl::memory::desc plain = plain_layout(network().shape_of(network().outputs[i]));
    program_buffer& buffer = program_.buffers[given.buffer];
    const bool own = buffer.place == buffer_place::scratch && !buffer.within;
    if (own && given.layout == plain) {
      buffer.place = buffer_place::output;
      buffer.tensor = i;
      continue;
    }
    const program_tensor result{program_.add_buffer(buffer_place::output, plain.get_size(), i),
                                plain};
    add_reorder(given, result, layer(group.last()));
  }
  add_part(program_, group, program_.steps.size());
}

host_program program_builder::finish(precision asked) {
  auto step = program_.steps.begin();
  for (program_part& part : program_.parts) {
    const auto end = program_.steps.begin() + static_cast<std::ptrdiff_t>(part.end_steps);
    const bool loops =
        std::all_of(step, end, [](const host_step& each) { return each.name.ends_with("loops]"); });
    part.choice = onednn_choice(part.choice, asked, loops);
    step = end;
  }
  program_.place_buffers();
  return std::move(program_);
}

}  // namespace graphline::nn
