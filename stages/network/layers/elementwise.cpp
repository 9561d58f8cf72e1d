#include <fmt/format.h>

#include "stages/network/layers/layers.hpp"

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
  return make_layer_kind<activation_layer>("relu", "max(x, 0)", {},
                                           read_activation<activation::relu>, infer);
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
  return make_layer_kind<activation_layer>("silu", "x / (1 + exp(-x))", {},
                                           read_activation<activation::silu>, infer);
}

namespace {

add_layer read_add(const arguments& values, layer_problems&) {
  return {.from = values.text("from")};
}

layer_shape infer(const add_layer&, std::span<const layer_input> inputs, layer_problems& problems) {
  if (inputs[0].shape != inputs[1].shape) {
    problems.report_at("from", fmt::format("needs equal shapes but {} gives {} and {} gives {}",
                                           inputs[0].giver, to_string(inputs[0].shape),
                                           inputs[1].giver, to_string(inputs[1].shape)));
    return {};
  }
  const std::int64_t elements = inputs[0].shape.elements();
  return {.output = inputs[0].shape, .cost = element_cost(2 * elements, elements, 1, problems)};
}

}  // namespace

layer_kind add_kind() {
  return make_layer_kind<add_layer>(
      "add", "Adds the output of an earlier layer (a residual connection)",
      {{.name = "from",
        .type = parameter_type::text,
        .help = "Name of the earlier layer, or 'input' for what the network reads.",
        .required = true}},
      read_add, infer);
}

namespace {

flatten_layer read_flatten(const arguments& values, layer_problems&) {
  return {.start_dim = values.integer("start_dim")};
}

layer_shape infer(const flatten_layer& flatten, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  const auto start = resolve_dim(flatten.start_dim, input, "start_dim", problems);
  if (!start) return {};
  std::vector<std::int64_t> extents;
  std::int64_t folded = 1;
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
    if (axis < *start) {
      extents.push_back(input.shape[axis]);
    } else {
      folded *= input.shape[axis];
    }
  }
  extents.push_back(folded);
  // The elements stay where they are: no work and no bytes.
  return {.output = shape(std::move(extents))};
}

}  // namespace

layer_kind flatten_kind() {
  return make_layer_kind<flatten_layer>(
      "flatten", "Folds the dimensions from one on into a single one",
      {{.name = "start_dim",
        .help = "The first dimension to fold; negative ones count from the last.",
        .default_value = "1"}},
      read_flatten, infer);
}

}  // namespace graphline
