#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

namespace {

softmax_layer read_softmax(const arguments& values, layer_problems&) {
  return {.dim = values.integer("dim")};
}

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
      read_softmax, infer);
}

}  // namespace graphline
