#include <fmt/format.h>

#include "stages/network/layers/layers.hpp"

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

  result.weights = product_weights(weight, features, linear.bias);
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

namespace {

attention_layer read_attention(const arguments& values, layer_problems&) {
  return {.heads = values.integer("heads")};
}

layer_shape infer(const attention_layer& attention, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  if (input.shape.rank() != 3 || input.shape[2] % 3 != 0) {
    problems.report(
        fmt::format("expects queries, keys and values after each other, [N, tokens, 3 dim], but "
                    "{} gives {}",
                    input.giver, to_string(input.shape)));
    return {};
  }
  const std::int64_t batch = input.shape[0];
  const std::int64_t tokens = input.shape[1];
  const std::int64_t dim = input.shape[2] / 3;
  if (dim % attention.heads != 0) {
    problems.report_at("heads",
                       fmt::format("cannot divide {} features into {} heads ({} gives {})", dim,
                                   attention.heads, input.giver, to_string(input.shape)));
    return {};
  }

  layer_shape result{.output = {batch, tokens, dim}};
  const auto scores = count_elements({batch, attention.heads, tokens, tokens}, problems);
  const auto macs = checked_product({2, batch, tokens, tokens, dim});
  if (!scores || !macs) {
    if (!macs) problems.report("would take more than 2^60 multiply-accumulates");
    return {};
  }
  // Two products; per score the scale and the five of a softmax. Scores pass inside: not counted.
  result.cost = {.macs = *macs,
                 .flops = 2 * *macs + 6 * *scores,
                 .bytes_read = 4 * input.shape.elements(),
                 .bytes_written = 4 * result.output.elements()};
  return result;
}

}  // namespace

layer_kind attention_kind() {
  return make_layer_kind<attention_layer>(
      "scaled_dot_product_attention",
      "softmax(q k^T / sqrt(dim / heads)) v per head, of packed [N, tokens, q k v]",
      {{.name = "heads",
        .help = "Heads, each of dim / heads neighbouring features of q, of k and of v.",
        .required = true,
        .minimum = 1,
        .maximum = largest_size}},
      read_attention, infer);
}

}  // namespace graphline
