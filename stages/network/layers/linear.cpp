#include <fmt/format.h>

#include <cmath>

#include "stages/network/layers/kinds.hpp"
#include "stages/network/layers/reading.hpp"

namespace graphline {

namespace {

linear_layer read_linear(const arguments& values, layer_problems&) {
  return {.out_features = values.integer("out_features"), .bias = values.boolean("bias")};
}

layer_shape infer(const linear_layer& linear, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  const std::size_t rank = input.shape.rank();
  if (rank != 2 && rank != 3) {
    problems.report(fmt::format("expects [N, features] or [N, tokens, features] but {} gives {}{}",
                                input.giver, to_string(input.shape),
                                rank > 3 ? " (put a 'flatten' before it)" : ""));
    return {};
  }
  const std::int64_t features = input.shape[rank - 1];
  const std::int64_t rows = input.shape.elements() / features;

  layer_shape result;
  std::vector<std::int64_t> extents = input.shape.extents();
  extents.back() = linear.out_features;
  result.output = shape(std::move(extents));
  const shape weight{linear.out_features, features};
  const auto out = count_elements(result.output, problems);
  const auto weight_elements = count_elements(weight, problems);
  const auto macs = checked_product({rows, features, linear.out_features});
  if (!out || !weight_elements || !macs) {
    if (!macs) problems.report("would take more than 2^60 multiply-accumulates");
    return {};
  }

  // +-sqrt(3 / fan in) has a variance of 1 / fan in, which keeps that of the values. The bias is
  // PyTorch's default.
  const double bound = 1.0 / std::sqrt(static_cast<double>(features));
  result.weights.push_back({"weight", weight, initial_value::scaled, std::sqrt(3.0) * bound});
  if (linear.bias) {
    result.weights.push_back({"bias", {linear.out_features}, initial_value::uniform, bound});
  }
  const std::int64_t parameters = *weight_elements + (linear.bias ? linear.out_features : 0);
  result.cost = {.macs = *macs,
                 .flops = 2 * *macs + (linear.bias ? *out : 0),
                 .bytes_read = 4 * (input.shape.elements() + parameters),
                 .bytes_written = 4 * *out};
  return result;
}

}  // namespace

layer_kind linear_kind() {
  return make_layer_kind<linear_layer>(
      "linear", "Fully connected layer on [N, features] or [N, tokens, features]",
      {{.name = "out_features",
        .help = "Features of the output.",
        .required = true,
        .minimum = 1,
        .maximum = largest_size},
       {.name = "bias",
        .type = parameter_type::boolean,
        .help = "Add a learned number per feature.",
        .default_value = "true"}},
      read_linear, infer);
}

}  // namespace graphline
