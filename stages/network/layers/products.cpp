#include <fmt/format.h>

#include "stages/network/layers/layers.hpp"

namespace graphline {
namespace {

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
  std::vector<std::int64_t> extents = input.shape.extents();
  const shape weight{linear.out_features, extents.back()};
  extents.back() = linear.out_features;
  return product_shape(shape(std::move(extents)), weight, input, linear.bias, problems);
}

}  // namespace

layer_kind linear_kind() {
  return make_layer_kind<linear_layer>(
      "linear", "Fully connected layer on [N, features] or [N, tokens, features]",
      {size_parameter("out_features", "Features of the output."),
       {.name = "bias",
        .type = parameter_type::boolean,
        .help = "Add a learned number per feature.",
        .default_value = "true"}},
      [](const arguments& values, layer_problems&) {
        return linear_layer{.out_features = values.integer("out_features"),
                            .bias = values.boolean("bias")};
      },
      infer);
}

namespace {

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
      {size_parameter("heads",
                      "Heads, each of dim / heads neighbouring features of q, of k and of v.")},
      [](const arguments& values, layer_problems&) {
        return attention_layer{.heads = values.integer("heads")};
      },
      infer);
}

}  // namespace graphline
