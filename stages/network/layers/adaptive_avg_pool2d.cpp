#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"
#include "stages/network/windows.hpp"

namespace graphline {

namespace {

adaptive_avg_pool2d_layer read_adaptive(const arguments& values, layer_problems& problems) {
  return {.output = read_pair(values, "output", problems)};
}

/// Elements under all windows along one axis: neighbouring windows overlap by one where the sizes
/// do not divide.
std::int64_t covered_elements(std::int64_t in, std::int64_t out) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < out; ++i) sum += adaptive_window(i, in, out).elements();
  return sum;
}

layer_shape infer(const adaptive_avg_pool2d_layer& pool, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  if (!expect_images(input, problems)) return {};
  layer_shape result{.output = {input.shape[0], input.shape[1], pool.output[0], pool.output[1]}};
  const auto out = count_elements(result.output, problems);
  if (!out) return {};

  // One addition or division per element under a window.
  const auto flops = checked_product({input.shape[0], input.shape[1],
                                      covered_elements(input.shape[2], pool.output[0]),
                                      covered_elements(input.shape[3], pool.output[1])});
  if (!flops) {
    problems.report("would take more than 2^60 operations");
    return {};
  }
  result.cost = {
      .flops = *flops, .bytes_read = 4 * input.shape.elements(), .bytes_written = 4 * *out};
  return result;
}

}  // namespace

layer_kind adaptive_avg_pool2d_kind() {
  return make_layer_kind<adaptive_avg_pool2d_layer>(
      "adaptive_avg_pool2d", "Mean over windows that give an output of a stated size",
      {{.name = "output",
        .type = parameter_type::integers,
        .help = "Height and width of the output: a number or [h, w].",
        .required = true,
        .minimum = 1,
        .maximum = 65536}},
      read_adaptive, infer);
}

}  // namespace graphline
