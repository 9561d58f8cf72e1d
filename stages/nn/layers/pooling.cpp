#include <algorithm>
#include <functional>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/operations/windows.hpp"

namespace graphline::nn {
namespace {

pool2d_layer read_pool(pooling method, const arguments& values, layer_problems& problems) {
  pool2d_layer pool{.method = method};
  pool.kernel = read_pair(values, "kernel", problems);
  pool.stride = values.has("stride") ? read_pair(values, "stride", problems) : pool.kernel;
  pool.padding = read_pair(values, "padding", problems);
  pool.ceil_mode = values.boolean("ceil_mode");
  if (method == pooling::max) pool.dilation = read_pair(values, "dilation", problems);
  if (method == pooling::average) pool.count_include_pad = values.boolean("count_include_pad");
  // PyTorch's limit: a window must not lie in the padding alone.
  if (pool.padding[0] > pool.kernel[0] / 2 || pool.padding[1] > pool.kernel[1] / 2) {
    problems.report_at(
        "padding", "takes at most half the kernel as padding, found {}x{} for a kernel of {}x{}",
        pool.padding[0], pool.padding[1], pool.kernel[0], pool.kernel[1]);
  }
  return pool;
}

std::vector<parameter> window_parameters(parameter own) {
  return {kernel_parameter("Height and width of the window: a number or [h, w]."),
          pair_parameter("stride", "Step of the window; the kernel's size by default.", {}, 1),
          pair_parameter("padding", "Added on each side.", "0", 0),
          boolean_parameter("ceil_mode", "Keep a last, partly covered window.", "false"),
          std::move(own)};
}

/// Returns the sum of the window sizes along one axis. Adjacent windows share an element if `out`
/// does not divide `in`.
std::int64_t covered_elements(std::int64_t in, std::int64_t out) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < out; ++i) sum += adaptive_window(i, in, out).elements();
  return sum;
}

}  // namespace

layer_shape infer(const pool2d_layer& pool, layer_inputs inputs, layer_problems& problems) {
  const layer_input& input = inputs[0];
  expect_images(input, problems);
  const extent_pair after = pool.padding_after.value_or(pool.padding);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = pool.dilation[axis] * (pool.kernel[axis] - 1) + 1;
    const std::int64_t padding = std::max(pool.padding[axis], after[axis]);
    if (padding < covered) continue;
    problems.refuse_at("padding",
                       "has a padding of {} for a kernel that covers {}: windows would lie in the "
                       "padding alone",
                       padding, covered);
  }
  const auto [height, width] = window_output(input, pool, problems);
  layer_shape result{.output = {input.shape[0], input.shape[1], height, width}};
  // Per output: comparisons or additions within a window, and a division for an average.
  const std::int64_t window = count_of({pool.kernel[0], pool.kernel[1]});
  result.cost = element_cost(result.output, window - (pool.method == pooling::max ? 1 : 0));
  return result;
}

layer_shape infer(const adaptive_avg_pool2d_layer& pool, layer_inputs inputs,
                  layer_problems& problems) {
  expect_images(inputs[0], problems);
  const shape& s = inputs[0].shape;
  layer_shape result{.output = {s[0], s[1], pool.output[0], pool.output[1]}};
  // One addition or division per covered element.
  result.cost.flops = count_of(
      {s[0], s[1], covered_elements(s[2], pool.output[0]), covered_elements(s[3], pool.output[1])});
  return result;
}

std::vector<layer_kind> pooling_kinds() {
  return {
      {"max_pool2d", "Largest value of each window",
       window_parameters(pair_parameter("dilation", "Distance between window elements.", "1", 1)),
       std::bind_front(read_pool, pooling::max)},
      {"avg_pool2d", "Mean of each window",
       window_parameters(boolean_parameter("count_include_pad",
                                           "Count the padding's zeros in the mean.", "true")),
       std::bind_front(read_pool, pooling::average)},
      {"adaptive_avg_pool2d",
       "Mean over windows, for a given output size",
       {{.name = "output",
         .type = parameter_type::integers,
         .help = "Height and width of the output: a number or [h, w].",
         .required = true,
         .minimum = 1,
         .maximum = 65536}},
       [](const arguments& values, layer_problems& problems) {
         return adaptive_avg_pool2d_layer{.output = read_pair(values, "output", problems)};
       }}};
}

}  // namespace graphline::nn
