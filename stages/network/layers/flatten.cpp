#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

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
