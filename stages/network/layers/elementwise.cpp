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

layer_shape infer(const activation_layer& layer, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const std::int64_t elements = inputs[0].shape.elements();
  return {.output = inputs[0].shape,
          .cost = element_cost(elements, elements, flops_per_element(layer.function), problems)};
}

}  // namespace

layer_kind activation_kind(activation function, std::string headline) {
  return make_layer_kind<activation_layer>(
      std::string(to_word(function)), std::move(headline), {},
      [function](const arguments&, layer_problems&) { return activation_layer{function}; }, infer);
}

layer_kind gelu_kind() {
  return make_layer_kind<activation_layer>(
      "gelu", "x times the normal distribution function of x",
      {{.name = "approximate",
        .type = parameter_type::choice,
        .help = "none: with erf, exact; tanh: the approximation by tanh.",
        .default_value = "none",
        .choices = {"none", "tanh"}}},
      [](const arguments& values, layer_problems&) {
        const bool by_tanh = values.text("approximate") == "tanh";
        return activation_layer{by_tanh ? activation::gelu_tanh : activation::gelu_erf};
      },
      infer);
}

namespace {

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
      [](const arguments& values, layer_problems&) {
        return add_layer{.from = values.text("from")};
      },
      infer);
}

namespace {

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
      [](const arguments& values, layer_problems&) {
        return flatten_layer{.start_dim = values.integer("start_dim")};
      },
      infer);
}

}  // namespace graphline
