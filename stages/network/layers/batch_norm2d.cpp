#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

namespace {

batch_norm2d_layer read_batch_norm2d(const arguments& values, layer_problems&) {
  return {.eps = values.number("eps")};
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
      {eps_parameter()}, read_batch_norm2d, infer);
}

}  // namespace graphline
