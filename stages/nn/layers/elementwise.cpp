#include <fmt/format.h>

#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {
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

/// What a normalization adds to the variance.
parameter eps_parameter() {
  return {.name = "eps",
          .type = parameter_type::number,
          .help = "Added to the variance.",
          .default_value = "1e-5",
          .minimum = 0};
}

parameter second_operand() {
  return {.name = "from",
          .type = parameter_type::text,
          .help =
              "Name of the earlier layer or input of the network that is the second operand; "
              "shapes are broadcast.",
          .required = true};
}

}  // namespace

layer_shape infer(const activation_layer& layer, std::span<const layer_input> inputs,
                  layer_problems&) {
  const shape& s = inputs[0].shape;
  return {.output = s, .cost = element_cost(s, flops_per_element(layer.function))};
}

layer_shape infer(const add_layer&, std::span<const layer_input> inputs, layer_problems&) {
  const shape& s = inputs[0].shape;
  return {.output = s, .cost = element_cost(s, 1)};
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
  // The elements stay where they are: no work.
  return {.output = shape(std::move(extents))};
}

layer_shape infer(const batch_norm2d_layer&, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  if (!expect_images(input, problems)) return {};
  const std::int64_t channels = input.shape[1];

  layer_shape result{.output = input.shape};
  result.weights = {{"weight", {channels}, {initial_value::rule::ones}},
                    {"bias", {channels}, {initial_value::rule::zeros}},
                    {"running_mean", {channels}, {initial_value::rule::zeros}},
                    {"running_var", {channels}, {initial_value::rule::ones}}};
  // (x - mean) / deviation * weight + bias per element; sqrt(var + eps) per channel.
  result.cost = element_cost(input.shape, 4);
  result.cost.flops += 2 * channels;
  return result;
}

layer_shape infer(const layer_norm_layer&, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const shape& input = inputs[0].shape;
  if (input.rank() == 0) {
    problems.report("expects at least one dimension but " + inputs[0].giver +
                    " gives a single number");
    return {};
  }
  const std::int64_t features = input[input.rank() - 1];

  layer_shape result{.output = input};
  result.weights = {{"weight", {features}, {initial_value::rule::ones}},
                    {"bias", {features}, {initial_value::rule::zeros}}};
  // Per element: sum, difference from the mean, square, sum, quotient by the deviation, weight and
  // bias. Per row: two quotients, eps and the root.
  result.cost = element_cost(input, 7);
  result.cost.flops += 4 * (input.elements() / features);
  return result;
}

layer_shape infer(const softmax_layer& softmax, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  if (!resolve_dim(softmax.dim, inputs[0], "dim", problems)) return {};
  // Per element: find the largest, subtract it, exp, sum, divide.
  return {.output = inputs[0].shape, .cost = element_cost(inputs[0].shape, 5)};
}

layer_kind activation_kind(activation function, std::string headline) {
  return {std::string(to_word(function)),
          std::move(headline),
          {},
          [function](const arguments&, layer_problems&) { return activation_layer{function}; }};
}

layer_kind gelu_kind() {
  return {"gelu",
          "x times the normal distribution function of x",
          {{.name = "approximate",
            .type = parameter_type::choice,
            .help = "none: with erf, exact; tanh: the approximation by tanh.",
            .default_value = "none",
            .choices = {"none", "tanh"}}},
          [](const arguments& values, layer_problems&) {
            const bool by_tanh = values.text("approximate") == "tanh";
            return activation_layer{by_tanh ? activation::gelu_tanh : activation::gelu_erf};
          }};
}

layer_kind leaky_relu_kind() {
  return {"leaky_relu",
          "x, or x times a slope where it is negative",
          {{.name = "negative_slope",
            .type = parameter_type::number,
            .help = "The slope.",
            .default_value = "0.01"}},
          [](const arguments& values, layer_problems&) {
            return pointwise_layer{pointwise_function::leaky_relu,
                                   static_cast<float>(values.number("negative_slope"))};
          }};
}

layer_kind pointwise_kind(std::string name, std::string headline, pointwise_layer layer) {
  return {std::move(name), std::move(headline), {}, [layer](const arguments&, layer_problems&) {
            return layer;
          }};
}

layer_kind operands_kind(std::string name, std::string headline, pointwise_function function) {
  return {std::move(name),
          std::move(headline),
          {second_operand()},
          [function](const arguments&, layer_problems&) { return pointwise_layer{function}; }};
}

layer_kind add_kind() {
  return {"add",
          "The sum of what it reads and the second operand",
          {second_operand()},
          {},
          [](const arguments&, std::span<const layer_input> inputs,
             layer_problems&) -> layer_operation {
            // A residual connection, which products take into their epilogue.
            if (inputs[0].shape == inputs[1].shape) return add_layer{};
            return pointwise_layer{pointwise_function::add};
          }};
}

layer_kind flatten_kind() {
  return {"flatten",
          "Folds the dimensions from one on into a single one",
          {{.name = "start_dim",
            .help = "The first dimension to fold; negative ones count from the last.",
            .default_value = "1"}},
          [](const arguments& values, layer_problems&) {
            return flatten_layer{.start_dim = values.integer("start_dim")};
          }};
}

layer_kind batch_norm2d_kind() {
  return {"batch_norm2d",
          "Normalization per channel by stored statistics (inference)",
          {eps_parameter()},
          [](const arguments& values, layer_problems&) {
            return batch_norm2d_layer{.eps = values.number("eps")};
          }};
}

layer_kind layer_norm_kind() {
  return {"layer_norm",
          "Normalization along the last dimension, by its own mean and variance",
          {eps_parameter()},
          [](const arguments& values, layer_problems&) {
            return layer_norm_layer{.eps = values.number("eps")};
          }};
}

layer_kind softmax_kind() {
  return {"softmax",
          "exp(x) / sum(exp(x)) along one dimension",
          {{.name = "dim",
            .help = "The dimension; negative ones count from the last.",
            .default_value = "-1"}},
          [](const arguments& values, layer_problems&) {
            return softmax_layer{.dim = values.integer("dim")};
          }};
}

}  // namespace graphline::nn
