#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

cost cost_of(const std::string& layers, const shape& input) {
  return prepare(network_kind(), "layers: " + layers, {floats(input)}).cost;
}

struct counted_layer {
  const char* layers;
  shape input;
  cost counted;
};

TEST(network_cost, is_that_of_the_formula_of_each_layer) {
  const std::int64_t conv = 512 * 512 * 25;
  const std::int64_t pixels = 512LL * 256 * 256;
  const std::int64_t outputs = 2 * 4 * 6 * 6;
  const std::int64_t scores = 2 * 3 * 5 * 5;
  const shape square{10, 10};
  const shape image{1, 2, 6, 6};
  const auto elementwise = [](std::int64_t flops) {
    return cost{.flops = flops, .bytes_read = 400, .bytes_written = 400};
  };
  const auto pooled = [](std::int64_t flops, std::int64_t to) {
    return cost{.flops = flops, .bytes_read = 4 * 72, .bytes_written = 4 * to};
  };
  const counted_layer layers[] = {
      {"conv2d: {out_channels: 512, kernel: 5, padding: 2, bias: false}",
       {1, 512, 256, 256},
       {conv, 858'993'459'200 / 2, 858'993'459'200, 4 * (pixels + conv), 4 * pixels}},
      // A bias is one addition per output.
      {"conv2d: {out_channels: 4, kernel: 3}",
       {2, 3, 8, 8},
       {4 * 27 + 4, outputs * 27, outputs * 55, 4 * (2 * 3 * 64 + 4 * 27 + 4), 4 * outputs}},
      {"conv2d: {out_channels: 32, kernel: 3, bias: false, groups: 32}",
       {1, 32, 10, 10},
       {32 * 9, 32 * 64 * 9, 32 * 64 * 18, 4 * (3200 + 32 * 9), 4 * 32 * 64}},
      {"linear: {out_features: 2048}",
       {4, 1024},
       {1025 * 2048, 4096 * 2048, 2 * 4096 * 2048 + 4 * 2048, 4 * (4096 + 1025 * 2048),
        4 * 4 * 2048}},
      // Once per token.
      {"linear: {out_features: 6}", {2, 5, 4}, {30, 240, 540, 4 * (40 + 30), 4 * 60}},
      {"relu", square, elementwise(100)},
      {"relu6", square, elementwise(200)},
      {"sigmoid", square, elementwise(400)},
      {"silu", square, elementwise(500)},
      {"gelu", square, elementwise(500)},
      {"gelu: {approximate: tanh}", square, elementwise(900)},
      {"softmax", square, elementwise(500)},
      {"max_pool2d: {kernel: 2}", image, pooled(2 * 9 * 3, 18)},
      {"avg_pool2d: {kernel: 2}", image, pooled(2 * 9 * 4, 18)},
      {"adaptive_avg_pool2d: {output: 1}", image, pooled(72, 2)},
      // 6 to 4: windows of 2 elements, overlapping, along both axes.
      {"adaptive_avg_pool2d: {output: 4}", image, pooled(2 * 8 * 8, 32)},
      {"batch_norm2d", image, {8, 0, 4 * 72 + 2 * 2, 4 * (72 + 8), 4 * 72}},
      {"layer_norm", {2, 5, 8}, {16, 0, 7 * 80 + 4 * 10, 4 * (80 + 16), 4 * 80}},
      // Four features per head, two products; scores are not moved.
      {"scaled_dot_product_attention: {heads: 3}",
       {2, 5, 36},
       {0, scores * 8, 2 * scores * 8 + 6 * scores, 4 * 2 * 5 * 36, 4 * 2 * 5 * 12}},
      {"flatten", {2, 3, 4}, {}},
      {"add: {from: input}", {2, 3, 4}, {0, 0, 24, 2 * 4 * 24, 4 * 24}},
      {"mul: {from: input}", {2, 3, 4}, {0, 0, 24, 2 * 4 * 24, 4 * 24}},
      {"tanh", square, elementwise(100)},
      {"hardsigmoid", square, elementwise(400)},
      {"hardswish", square, elementwise(500)},
      {"mish", square, elementwise(500)},
      {"leaky_relu", square, elementwise(200)},
      // Each of 72 elements meets 4 x 4 kernel elements of 3 of the 6 outputs, in groups.
      {"conv_transpose2d: {out_channels: 6, kernel: 4, stride: 2, padding: 1, groups: 2}",
       image,
       {2 * 3 * 16 + 6, 72 * 48, 2 * 72 * 48 + 864, 4 * (72 + 2 * 48 + 6), 4 * 864}},
      {"upsample: {scale_factor: 2}", image, pooled(0, 288)},
      {"upsample: {scale_factor: 2, mode: bilinear}", image, pooled(6 * 288, 288)},
      {"reshape: {shape: [-1]}", {2, 3, 4}, {}},
      {"permute: {dims: [2, 0, 1]}", {2, 3, 4}, {0, 0, 0, 4 * 24, 4 * 24}},
      {"slice: {dim: 1, end: 2}", {2, 3, 4}, {0, 0, 0, 4 * 16, 4 * 16}},
      {"zero_pad2d: {padding: [0, 1, 0, 0]}", image, pooled(0, 84)},
      {"concat: {dim: 0, reads: [input, input]}", {2, 3, 4}, {0, 0, 0, 4 * 48, 4 * 48}},
  };
  for (const counted_layer& layer : layers) {
    SCOPED_TRACE(layer.layers);
    const cost found = cost_of(std::string("[") + layer.layers + "]", layer.input);
    EXPECT_EQ(found.parameters, layer.counted.parameters);
    EXPECT_EQ(found.macs, layer.counted.macs);
    EXPECT_EQ(found.flops, layer.counted.flops);
    EXPECT_EQ(found.bytes_read, layer.counted.bytes_read);
    EXPECT_EQ(found.bytes_written, layer.counted.bytes_written);
  }
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

TEST(network_cost, lists_layers_by_number_or_name_and_sums_them) {
  const prepared_stage s = prepare(network_kind(), R"(
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
