#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

namespace {

/// FLOPs per element, counting each arithmetic operation, exp, erf and tanh of the formula as one.
std::int64_t flops_per_element(activation function) {
  switch (function) {
    case activation::relu:
      return 1;  // max(x, 0)
    case activation::relu6:
      return 2;  // min(max(x, 0), 6)
    case activation::gelu_erf:
      return 5;  // x * 0.5 * (1 + erf(x * c))
    case activation::gelu_tanh:
      return 9;  // 0.5 * x * (1 + tanh(c * (x + d * x * x * x))), with x * x used once
    case activation::sigmoid:
      return 4;  // 1 / (1 + exp(-x))
    case activation::silu:
      return 5;  // x * sigmoid(x)
  }
  return 0;
}

template <activation function>
activation_layer read_activation(const arguments&, layer_problems&) {
  return {function};
}

activation_layer read_gelu(const arguments& values, layer_problems&) {
  return {values.text("approximate") == "tanh" ? activation::gelu_tanh : activation::gelu_erf};
}

layer_shape infer(const activation_layer& layer, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const std::int64_t elements = inputs[0].shape.elements();
  return {.output = inputs[0].shape,
          .cost = element_cost(elements, elements, flops_per_element(layer.function), problems)};
}

}  // namespace

layer_kind relu_kind() {
  return make_layer_kind<activation_layer>("relu", "max(x, 0)", {}, read_activation<activation::relu>, infer);
}

layer_kind relu6_kind() {
  return make_layer_kind<activation_layer>("relu6", "min(max(x, 0), 6)", {},
                                           read_activation<activation::relu6>, infer);
}

layer_kind gelu_kind() {
  return make_layer_kind<activation_layer>(
      "gelu", "x times the normal distribution function of x",
      {{.name = "approximate",
        .type = parameter_type::choice,
        .help = "none: with erf, exact; tanh: the approximation by tanh.",
        .default_value = "none",
        .choices = {"none", "tanh"}}},
      read_gelu, infer);
}

layer_kind sigmoid_kind() {
  return make_layer_kind<activation_layer>("sigmoid", "1 / (1 + exp(-x))", {},
                                           read_activation<activation::sigmoid>, infer);
}

layer_kind silu_kind() {
  return make_layer_kind<activation_layer>("silu", "x / (1 + exp(-x))", {}, read_activation<activation::silu>,
                                           infer);
}

}  // namespace graphline
