#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

cost cost_of(const std::string& layers, const shape& input) {
  return infer(network_kind(), "layers: " + layers, {floats(input)}).cost;
}

TEST(network_cost, counts_the_known_convolution_exactly) {
  const cost c = cost_of("[{conv2d: {out_channels: 512, kernel: 5, padding: 2, bias: false}}]",
                         {1, 512, 256, 256});
  EXPECT_EQ(c.flops, 858'993'459'200);
  EXPECT_EQ(c.macs, 858'993'459'200 / 2);
  EXPECT_EQ(c.parameters, 512 * 512 * 25);
  EXPECT_EQ(c.bytes_read, 4 * (512LL * 256 * 256 + 512 * 512 * 25));
  EXPECT_EQ(c.bytes_written, 4 * 512LL * 256 * 256);
}

TEST(network_cost, takes_padding_that_keeps_the_size) {
  const shape input{1, 4, 9, 12};
  const auto bytes = [&](const std::string& layer) {
    return cost_of("[{conv2d: {out_channels: 8, " + layer + "}}]", input).bytes_written;
  };
  EXPECT_EQ(bytes("kernel: 1, padding: same"), 4 * 8 * 9 * 12);
  EXPECT_EQ(bytes("kernel: [7, 3], padding: same"), 4 * 8 * 9 * 12);
  EXPECT_EQ(bytes("kernel: 4, dilation: 2, padding: same"), 4 * 8 * 9 * 12);
  EXPECT_EQ(bytes("kernel: [7, 3]"), 4 * 8 * 3 * 10);
}

TEST(network_cost, counts_a_bias_as_one_addition_per_output) {
  const cost c = cost_of("[{conv2d: {out_channels: 4, kernel: 3}}]", {2, 3, 8, 8});
  const std::int64_t outputs = 2 * 4 * 6 * 6;
  EXPECT_EQ(c.macs, outputs * 3 * 9);
  EXPECT_EQ(c.flops, 2 * c.macs + outputs);
  EXPECT_EQ(c.parameters, 4 * 3 * 9 + 4);
}

TEST(network_cost, divides_a_grouped_convolution_by_its_groups) {
  const shape input{1, 32, 10, 10};
  const cost full = cost_of("[{conv2d: {out_channels: 32, kernel: 3, bias: false}}]", input);
  const cost depthwise =
      cost_of("[{conv2d: {out_channels: 32, kernel: 3, bias: false, groups: 32}}]", input);
  EXPECT_EQ(full.macs, 32 * depthwise.macs);
  EXPECT_EQ(full.parameters, 32 * depthwise.parameters);
}

TEST(network_cost, counts_a_linear_layer) {
  const cost c = cost_of("[{linear: {out_features: 2048}}]", {4, 1024});
  EXPECT_EQ(c.macs, 4 * 1024 * 2048);
  EXPECT_EQ(c.flops, 2 * c.macs + 4 * 2048);
  EXPECT_EQ(c.parameters, 1024 * 2048 + 2048);
  EXPECT_EQ(c.bytes_read, 4 * (4 * 1024 + c.parameters));
  EXPECT_EQ(c.bytes_written, 4 * 4 * 2048);
}

TEST(network_cost, counts_elementwise_layers_by_their_formula) {
  const shape input{10, 10};
  EXPECT_EQ(cost_of("[relu]", input).flops, 100);
  EXPECT_EQ(cost_of("[relu6]", input).flops, 200);
  EXPECT_EQ(cost_of("[sigmoid]", input).flops, 400);
  EXPECT_EQ(cost_of("[silu]", input).flops, 500);
  EXPECT_EQ(cost_of("[gelu]", input).flops, 500);
  EXPECT_EQ(cost_of("[gelu: {approximate: tanh}]", input).flops, 900);
  EXPECT_EQ(cost_of("[softmax]", input).flops, 500);
  EXPECT_EQ(cost_of("[relu]", input).macs, 0);
  EXPECT_EQ(cost_of("[relu]", input).bytes_read, 400);
}

TEST(network_cost, counts_what_pools_and_norms_do) {
  const shape input{1, 2, 6, 6};
  EXPECT_EQ(cost_of("[max_pool2d: {kernel: 2}]", input).flops, 2 * 9 * 3);
  EXPECT_EQ(cost_of("[avg_pool2d: {kernel: 2}]", input).flops, 2 * 9 * 4);
  EXPECT_EQ(cost_of("[adaptive_avg_pool2d: {output: 1}]", input).flops, 72);
  // 6 to 4: windows of 2 elements, overlapping, along both axes.
  EXPECT_EQ(cost_of("[adaptive_avg_pool2d: {output: 4}]", input).flops, 2 * 8 * 8);
  EXPECT_EQ(cost_of("[batch_norm2d]", input).flops, 4 * 72 + 2 * 2);
  EXPECT_EQ(cost_of("[batch_norm2d]", input).parameters, 8);
}

TEST(network_cost, counts_a_linear_layer_of_tokens_once_for_each) {
  const cost c = cost_of("[{linear: {out_features: 6}}]", {2, 5, 4});
  EXPECT_EQ(c.macs, 2 * 5 * 4 * 6);
  EXPECT_EQ(c.flops, 2 * c.macs + 2 * 5 * 6);
  EXPECT_EQ(c.parameters, 4 * 6 + 6);
  EXPECT_EQ(c.bytes_read, 4 * (2 * 5 * 4 + 30));
  EXPECT_EQ(c.bytes_written, 4 * 2 * 5 * 6);
}

TEST(network_cost, counts_a_layer_norm_by_its_formula) {
  const cost c = cost_of("[layer_norm]", {2, 5, 8});
  EXPECT_EQ(c.macs, 0);
  EXPECT_EQ(c.flops, 7 * 80 + 4 * 10);
  EXPECT_EQ(c.parameters, 16);
  EXPECT_EQ(c.bytes_read, 4 * (80 + 16));
  EXPECT_EQ(c.bytes_written, 4 * 80);
}

TEST(network_cost, counts_both_products_of_attention_and_its_softmax_but_moves_no_scores) {
  const cost c = cost_of("[{scaled_dot_product_attention: {heads: 3}}]", {2, 5, 36});
  const std::int64_t scores = 2 * 3 * 5 * 5;
  EXPECT_EQ(c.macs, scores * 4 * 2);  // four features of a head, in two products
  EXPECT_EQ(c.flops, 2 * c.macs + 6 * scores);
  EXPECT_EQ(c.parameters, 0);
  EXPECT_EQ(c.bytes_read, 4 * 2 * 5 * 36);
  EXPECT_EQ(c.bytes_written, 4 * 2 * 5 * 12);
}

TEST(network_cost, counts_nothing_for_flatten_and_two_reads_for_add) {
  const shape input{2, 3, 4};
  EXPECT_EQ(cost_of("[flatten]", input).bytes_read, 0);
  EXPECT_EQ(cost_of("[flatten]", input).flops, 0);
  EXPECT_EQ(cost_of("[add: {from: input}]", input).bytes_read, 2 * 4 * 24);
  EXPECT_EQ(cost_of("[add: {from: input}]", input).flops, 24);
}

TEST(network_cost, lists_layers_by_number_or_name_and_sums_them) {
  const stage_shape s = infer(network_kind(), R"(
layers:
  - conv2d: {out_channels: 4, kernel: 3, name: stem}
  - gelu
  - flatten
)",
                              {floats({1, 3, 8, 8})});
  ASSERT_EQ(s.layers.size(), 3U);
  EXPECT_EQ(s.layers[0].name, "stem");
  EXPECT_EQ(s.layers[1].name, "1.gelu");
  EXPECT_EQ(s.layers[1].kind, "gelu");
  EXPECT_EQ(s.layers[2].output, floats({1, 144}));
  cost sum;
  for (const layer_summary& layer : s.layers) sum += layer.cost;
  EXPECT_EQ(s.cost.flops, sum.flops);
  EXPECT_EQ(s.cost.bytes_read, sum.bytes_read);
  EXPECT_EQ(s.outputs, std::vector{floats({1, 144})});
}

}  // namespace

}  // namespace graphline::test
