#include "stages/network/layers/layers.hpp"

namespace graphline {
namespace {

/// What a normalisation adds to the variance.
parameter eps_parameter() {
  return {.name = "eps",
          .type = parameter_type::number,
          .help = "Added to the variance.",
          .default_value = "1e-5",
          .minimum = 0};
}

layer_shape infer(const batch_norm2d_layer&, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  if (!expect_images(input, problems)) return {};
  const std::int64_t channels = input.shape[1];
  const std::int64_t elements = input.shape.elements();

  layer_shape result{.output = input.shape};
  result.weights = {{"weight", {channels}, initial_value::ones},
                    {"bias", {channels}, initial_value::zeros},
                    {"running_mean", {channels}, initial_value::zeros},
                    {"running_var", {channels}, initial_value::ones}};
  // (x - mean) / deviation * weight + bias per element; sqrt(var + eps) per channel.
  result.cost = element_cost(elements, elements, 4, problems);
  result.cost.flops += 2 * channels;
  result.cost.bytes_read += 4 * 4 * channels;
  return result;
}

}  // namespace

layer_kind batch_norm2d_kind() {
  return make_layer_kind<batch_norm2d_layer>(
      "batch_norm2d", "Normalisation per channel by stored statistics (inference)",
      {eps_parameter()},
      [](const arguments& values, layer_problems&) {
        return batch_norm2d_layer{.eps = values.number("eps")};
      },
      infer);
}

namespace {

layer_shape infer(const layer_norm_layer&, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const shape& input = inputs[0].shape;
  if (input.rank() == 0) {
    problems.report("expects at least one dimension but " + inputs[0].giver +
                    " gives a single number");
    return {};
  }
  const std::int64_t features = input[input.rank() - 1];
  const std::int64_t elements = input.elements();

  layer_shape result{.output = input};
  result.weights = {{"weight", {features}, initial_value::ones},
                    {"bias", {features}, initial_value::zeros}};
  // Per element: sum, difference from the mean, square, sum, quotient by the deviation, weight and
  // bias. Per row: two quotients, eps and the root.
  result.cost = element_cost(elements, elements, 7, problems);
  result.cost.flops += 4 * (elements / features);
  result.cost.bytes_read += 4 * 2 * features;
  return result;
}

}  // namespace

layer_kind layer_norm_kind() {
  return make_layer_kind<layer_norm_layer>(
      "layer_norm", "Normalisation along the last dimension, by its own mean and variance",
      {eps_parameter()},
      [](const arguments& values, layer_problems&) {
        return layer_norm_layer{.eps = values.number("eps")};
      },
      infer);
}

namespace {

layer_shape infer(const softmax_layer& softmax, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  if (!resolve_dim(softmax.dim, inputs[0], "dim", problems)) return {};
  // Per element: find the largest, subtract it, exp, sum, divide.
  const std::int64_t elements = inputs[0].shape.elements();
  return {.output = inputs[0].shape, .cost = element_cost(elements, elements, 5, problems)};
}

}  // namespace

layer_kind softmax_kind() {
  return make_layer_kind<softmax_layer>(
      "softmax", "exp(x) / sum(exp(x)) along one dimension",
      {{.name = "dim",
        .help = "The dimension; negative ones count from the last.",
        .default_value = "-1"}},
      [](const arguments& values, layer_problems&) {
        return softmax_layer{.dim = values.integer("dim")};
      },
      infer);
}

}  // namespace graphline
