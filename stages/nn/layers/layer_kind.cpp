#include "stages/nn/layers/layer_kind.hpp"

#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {
namespace {

const parameter name_parameter{
    .name = "name",
    .type = parameter_type::tree,
    .help = "Name of the layer, for its weights, for those who read it, and in every table.",
    .structure = "name"};

const parameter reads_parameter{
    .name = "reads",
    .type = parameter_type::tree,
    .help =
        "Name of the earlier layer or input of the network that it reads; the layer before when "
        "left out.",
    .structure = "name"};

}  // namespace

const std::vector<layer_kind>& layer_kinds() {
  static const std::vector<layer_kind> kinds = {
      conv2d_kind(),
      conv_transpose2d_kind(),
      linear_kind(),
      activation_kind(activation::relu, "max(x, 0)"),
      activation_kind(activation::relu6, "min(max(x, 0), 6)"),
      gelu_kind(),
      activation_kind(activation::sigmoid, "1 / (1 + exp(-x))"),
      activation_kind(activation::silu, "x / (1 + exp(-x))"),
      pointwise_kind("tanh", "The hyperbolic tangent of x", {pointwise_function::tanh}),
      pointwise_kind("hardsigmoid", "min(max(x / 6 + 1 / 2, 0), 1)",
                     {pointwise_function::hard_sigmoid, 1.0F / 6, 0.5F}),
      pointwise_kind("hardswish", "x min(max(x / 6 + 1 / 2, 0), 1)",
                     {pointwise_function::hard_swish}),
      pointwise_kind("mish", "x tanh(log(1 + exp(x)))", {pointwise_function::mish}),
      leaky_relu_kind(),
      softmax_kind(),
      batch_norm2d_kind(),
      layer_norm_kind(),
      attention_kind(),
      max_pool2d_kind(),
      avg_pool2d_kind(),
      adaptive_avg_pool2d_kind(),
      upsample_kind(),
      flatten_kind(),
      reshape_kind(),
      permute_kind(),
      slice_kind(),
      zero_pad2d_kind(),
      concat_kind(),
      add_kind(),
      operands_kind("sub", "The second operand subtracted from what it reads",
                    pointwise_function::sub),
      operands_kind("mul", "What it reads times the second operand", pointwise_function::mul),
      operands_kind("div", "What it reads divided by the second operand", pointwise_function::div)};
  return kinds;
}

std::vector<parameter> parameters_of(const layer_kind& kind) {
  std::vector<parameter> all = kind.parameters;
  all.push_back(name_parameter);
  if (find_parameter(all, "reads") == nullptr) all.push_back(reads_parameter);
  return all;
}

}  // namespace graphline::nn
