#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

namespace {

layer_norm_layer read_layer_norm(const arguments& values, layer_problems&) {
  return {.eps = values.number("eps")};
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
      {eps_parameter()}, read_layer_norm, infer);
}

}  // namespace graphline
