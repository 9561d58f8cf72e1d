#include <fmt/format.h>

#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

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

}  // namespace graphline
