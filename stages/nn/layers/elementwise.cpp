#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {
namespace {

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
          .help = "Earlier layer or network input that is the second operand; shapes broadcast.",
          .required = true};
}

layer_kind pointwise_kind(std::string name, std::string headline, pointwise_layer layer,
                          std::vector<parameter> parameters = {}) {
  return {std::move(name), std::move(headline), std::move(parameters),
          [layer](const arguments&, layer_problems&) { return layer; }};
}

}  // namespace

layer_shape infer(const pointwise_layer& layer, layer_inputs inputs, layer_problems& problems) {
  std::vector<shape> shapes;
  for (const layer_input& input : inputs) shapes.push_back(input.shape);
  const auto output = broadcast(shapes);
  if (!output) {
    std::string given;
    for (const layer_input& input : inputs) {
      given +=
          fmt::format("{}{} of {}", given.empty() ? "" : ", ", input.giver, to_string(input.shape));
    }
    problems.refuse_at("from", "needs shapes that broadcast to one but reads {}", given);
  }
  return {.output = *output, .cost = element_cost(*output, traits_of(layer.function).flops)};
}

layer_shape infer(const batch_norm2d_layer&, layer_inputs inputs, layer_problems& problems) {
  expect_images(inputs[0], problems);
  const shape& input = inputs[0].shape;
  const std::int64_t channels = input[1];
  layer_shape result{.output = input};
  result.weights = {{"weight", {channels}, {initial_value::rule::ones}},
                    {"bias", {channels}, {initial_value::rule::zeros}},
                    {"running_mean", {channels}, {initial_value::rule::zeros}},
                    {"running_var", {channels}, {initial_value::rule::ones}}};
  // Per element: (x - mean) / deviation * weight + bias. Per channel: sqrt(var + eps).
  result.cost = element_cost(input, 4);
  result.cost.flops += 2 * channels;
  return result;
}

layer_shape infer(const layer_norm_layer&, layer_inputs inputs, layer_problems& problems) {
  const shape& input = inputs[0].shape;
  if (input.rank() == 0) {
    problems.refuse("expects at least one dimension but {} gives a single number", inputs[0].giver);
  }
  const std::int64_t features = input[input.rank() - 1];

  layer_shape result{.output = input};
  result.weights = {{"weight", {features}, {initial_value::rule::ones}},
                    {"bias", {features}, {initial_value::rule::zeros}}};
  // Per element: two sums, subtraction of the mean, square, division by the deviation, weight and
  // bias. Per row: two divisions, addition of eps and the root.
  result.cost = element_cost(input, 7);
  result.cost.flops += 4 * (input.elements() / features);
  return result;
}

layer_shape infer(const softmax_layer& softmax, layer_inputs inputs, layer_problems& problems) {
  resolve_dim(softmax.dim, inputs[0], "dim", problems);
  // Per element: compare for the maximum, subtract the maximum, exp, sum, divide.
  return {.output = inputs[0].shape, .cost = element_cost(inputs[0].shape, 5)};
}

std::vector<layer_kind> element_wise_kinds() {
  using function = pointwise_function;
  return {
      pointwise_kind("relu", "max(x, 0)", {function::relu}),
      pointwise_kind("relu6", "min(max(x, 0), 6)", {function::clip, 0, 6}),
      {"gelu",
       "x times the normal distribution function of x",
       {{.name = "approximate",
         .type = parameter_type::choice,
         .help = "none: exact, with erf; tanh: its approximation.",
         .default_value = "none",
         .choices = {"none", "tanh"}}},
       [](const arguments& values, layer_problems&) {
         const bool by_tanh = values.text("approximate") == "tanh";
         return pointwise_layer{by_tanh ? function::gelu_tanh : function::gelu_erf};
       }},
      pointwise_kind("sigmoid", "1 / (1 + exp(-x))", {function::sigmoid}),
      pointwise_kind("silu", "x / (1 + exp(-x))", {function::silu}),
      pointwise_kind("tanh", "The hyperbolic tangent of x", {function::tanh}),
      pointwise_kind("hardsigmoid", "min(max(x / 6 + 1 / 2, 0), 1)",
                     {function::hard_sigmoid, 1.0F / 6, 0.5F}),
      pointwise_kind("hardswish", "x min(max(x / 6 + 1 / 2, 0), 1)", {function::hard_swish}),
      pointwise_kind("mish", "x tanh(log(1 + exp(x)))", {function::mish}),
      {"leaky_relu",
       "x, or x times a slope where it is negative",
       {{.name = "negative_slope",
         .type = parameter_type::number,
         .help = "The slope.",
         .default_value = "0.01"}},
       [](const arguments& values, layer_problems&) {
         return pointwise_layer{function::leaky_relu,
                                static_cast<float>(values.number("negative_slope"))};
       }},
      pointwise_kind("add", "Its input plus the second operand", {function::add},
                     {second_operand()}),
      pointwise_kind("sub", "Its input minus the second operand", {function::sub},
                     {second_operand()}),
      pointwise_kind("mul", "Its input times the second operand", {function::mul},
                     {second_operand()}),
      pointwise_kind("div", "Its input divided by the second operand", {function::div},
                     {second_operand()}),
      {"softmax",
       "exp(x) / sum(exp(x)) along one dimension",
       {{.name = "dim", .help = "The dimension; negative: from the last.", .default_value = "-1"}},
       [](const arguments& values, layer_problems&) {
         return softmax_layer{.dim = values.integer("dim")};
       }},
      {"batch_norm2d",
       "Normalization per channel by stored statistics (inference)",
       {eps_parameter()},
       [](const arguments& values, layer_problems&) {
         return batch_norm2d_layer{.eps = values.number("eps")};
       }},
      {"layer_norm",
       "Normalization along the last dimension, by its own mean and variance",
       {eps_parameter()},
       [](const arguments& values, layer_problems&) {
         return layer_norm_layer{.eps = values.number("eps")};
       }}};
}

}  // namespace graphline::nn
