#include "stages/network/host/lowering.hpp"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <stdexcept>
#include <variant>

#include "framework/base/error.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

void append_activations(dnnl::post_ops& operations, const program_builder& b,
                        const std::vector<std::size_t>& layers) {
  for (const std::size_t layer : layers) {
    const auto& activated = std::get<activation_layer>(b.layer(layer).operation);
    const eltwise_form form = eltwise_of(activated.function);
    operations.append_eltwise(1.0F, form.algorithm, form.alpha, form.beta);
  }
}

/// The network as oneDNN primitives. On the worker thread. Throws `run_error` naming stage and
/// layer when oneDNN refuses one.
host_program lower_network(const network_definition& network, const weight_table& weights,
                           const stage_config& config) {
  program_builder builder(network, weights, config.name);
  for (const fused_layers& group : fuse_layers(network)) {
    const network_layer& head = network.layers[group.head];
    try {
      std::visit([&](const auto& operation) { lower(builder, group, operation); }, head.operation);
      builder.end_part(group);
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format("{}: oneDNN cannot prepare it for {}: {} ({})",
                                  builder.owner(head), to_string(network.input_of(head)), e.what(),
                                  dnnl_status2str(e.status)));
    }
  }
  return builder.finish(config.arguments.has("precision") ? precision_of(config.arguments)
                                                          : precision::float32);
}

}  // namespace

std::unique_ptr<device_stage> make_host_network(device& d, const network_definition& network,
                                                const weight_table& weights,
                                                const stage_config& config) {
  host_program program;
  host_call(d, [&] { program = lower_network(network, weights, config); });
  memory constants;
  if (program.weights_bytes > 0) constants = d.allocate(program.weights_bytes);
  host_call(d, [&] { program.load_constants(constants.at(0)); });
  return std::make_unique<program_stage<host_program>>(std::move(program), std::move(constants));
}

program_builder::program_builder(const network_definition& network, const weight_table& weights,
                                 std::string stage)
    : network_builder(network, weights, std::move(stage), ", ", {}),
      values_(network.values.size()) {
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const dnnl::memory::desc layout = plain_layout(network.shape_of(network.inputs[i]));
    values_[network.inputs[i]] = {program_.add_buffer(buffer_place::input, layout.get_size(), i),
                                  layout};
  }
}

const program_tensor& program_builder::input_of(const network_layer& layer, std::size_t which) {
  program_tensor& value = values_[layer.inputs[which]];
  if (value.layout.is_zero()) {
    const shape& extents = network().shape_of(layer.inputs[which]);
    value = constant(weights().of(layer, which), extents, plain_layout(extents));
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

host_program program_builder::finish(precision asked) {
  for (std::size_t i = 0; i < network().outputs.size(); ++i) {
    const dnnl::memory::desc plain = plain_layout(network().shape_of(network().outputs[i]));
    const program_tensor& given = values_[network().outputs[i]];
    program_buffer& buffer = program_.buffers[given.buffer];
    if (buffer.place == buffer_place::scratch && given.layout == plain) {
      buffer.place = buffer_place::output;
      buffer.tensor = i;
      continue;
    }
    const program_tensor result{program_.add_buffer(buffer_place::output, plain.get_size(), i),
                                plain};
    add_reorder(given, result, network().layers.back());
  }
  finish_parts(program_, program_.steps.size());
  for (program_part& part : program_.parts) part.choice = onednn_choice(part.choice, asked);
  program_.place_buffers();
  return std::move(program_);
}

eltwise_form eltwise_of(activation function) {
  switch (function) {
    case activation::relu:
      return {dnnl::algorithm::eltwise_relu};
    case activation::relu6:
      return {dnnl::algorithm::eltwise_clip, 0.0F, 6.0F};
    case activation::gelu_erf:
      return {dnnl::algorithm::eltwise_gelu_erf};
    case activation::gelu_tanh:
      return {dnnl::algorithm::eltwise_gelu_tanh};
    case activation::sigmoid:
      return {dnnl::algorithm::eltwise_logistic};
    case activation::silu:
      return {dnnl::algorithm::eltwise_swish, 1.0F};
  }
  throw std::logic_error("an activation without a oneDNN algorithm");
}

dnnl::primitive_attr fused_attributes(const program_builder& b, const split_epilogue& epilogue,
                                      const dnnl::memory::desc* added) {
  dnnl::post_ops operations;
  append_activations(operations, b, epilogue.before);
  if (added != nullptr) {
    operations.append_binary(dnnl::algorithm::binary_add, *added);
    append_activations(operations, b, epilogue.after);
  }
  dnnl::primitive_attr attributes = onednn_attributes();
  attributes.set_post_ops(operations);
  return attributes;
}

std::string fused_name(const program_builder& b, const fused_layers& group, bool bias,
                       const split_epilogue& epilogue, bool with_add) {
  std::string name = b.layer(group.head).kind;
  if (bias) name += "+bias";
  if (group.norm) name += "+batch_norm2d";
  for (const std::size_t layer : epilogue.before) name += "+" + b.layer(layer).kind;
  if (with_add) {
    name += "+add";
    for (const std::size_t layer : epilogue.after) name += "+" + b.layer(layer).kind;
  }
  return name;
}

void lower_rest(program_builder& b, const split_epilogue& epilogue) {
  const fused_layers rest{.head = *epilogue.add, .epilogue = epilogue.after};
  lower(b, rest, std::get<add_layer>(b.layer(rest.head).operation));
}

}  // namespace graphline
