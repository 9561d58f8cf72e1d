#include "stages/network/host/lowering.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <variant>

#include "framework/base/error.hpp"

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

}  // namespace

host_program lower_network(const network_definition& network, const weight_table& weights,
                           const std::string& stage) {
  program_builder builder(network, weights, stage);
  for (const fused_layers& group : fuse_layers(network)) {
    const network_layer& head = network.layers[group.head];
    try {
      std::visit([&](const auto& operation) { lower(builder, group, operation); }, head.operation);
      builder.end_part(group);
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format(
          "{}: oneDNN cannot prepare it for {}: {} ({})", builder.owner(head),
          to_string(network.shape_of(head.inputs.front())), e.what(), describe_status(e.status)));
    }
  }
  return builder.finish();
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
