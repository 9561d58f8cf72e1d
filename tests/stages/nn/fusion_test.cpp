#include "stages/nn/fusion/fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "stages/kinds.hpp"
#include "stages/nn/yaml/layer_reader.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

network_definition defined(const std::string& layers, const shape& input) {
  const tensor_type type = floats(input);
  diagnostics out;
  network_definition network =
      define_network(read_arguments(network_kind(), "layers: " + layers), {}, {&type, 1}, out);
  out.throw_if_errors();
  return network;
}

/// Groups as "head+epilogue", by layer number.
std::vector<std::string> groups_of(const std::string& yaml, const shape& input) {
  const network_definition network = defined(yaml, input);
  std::vector<std::string> groups;
  for (const layer_group& group : group_layers(network)) {
    std::ostringstream text;
    text << group.head;
    for (const std::size_t layer : group.epilogue) text << '+' << layer;
    groups.push_back(text.str());
  }
  return groups;
}

const shape small_image{1, 8, 6, 6};

TEST(fusion, groups_element_wise_layers_with_one_result) {
  const std::pair<const char*, std::vector<std::string>> networks[] = {
      {"[conv2d: {out_channels: 8, kernel: 1}, batch_norm2d, add: {from: input}, relu]",
       {"0+1+2+3"}},
      // x silu(x) + input: the product's result is read twice, within the group.
      {"[conv2d: {out_channels: 8, kernel: 1, name: x}, batch_norm2d: {name: y}, silu,"
       " add: {from: y}, add: {from: input}, relu]",
       {"0+1+2+3+4+5"}},
      // Another product reads a value too.
      {"[conv2d: {out_channels: 8, kernel: 1, name: x}, relu: {name: y},"
       " conv2d: {out_channels: 8, kernel: 1, name: z}, add: {reads: y, from: z}]",
       {"0+1", "2+3"}},
      // A function of a product stays with it if the sum could join either product.
      {"[conv2d: {out_channels: 8, kernel: 1, name: x}, relu: {name: y},"
       " conv2d: {out_channels: 8, kernel: 1, reads: input}, add: {from: y}]",
       {"0+1", "2+3"}},
      // The same for the sum of two such functions.
      {"[conv2d: {out_channels: 8, kernel: 1, name: x}, batch_norm2d, silu: {name: y},"
       " conv2d: {out_channels: 8, kernel: 1, reads: input}, batch_norm2d, add: {from: y}, relu]",
       {"0+1+2", "3+4+5+6"}},
      // A value is added to itself.
      {"[conv2d: {out_channels: 8, kernel: 1, name: a}, add: {from: a}]", {"0+1"}},
      // Results of other shapes end a group.
      {"[relu, max_pool2d: {kernel: 2}, relu, sigmoid]", {"0", "1", "2+3"}},
      // Pools do not join the layers after them.
      {"[max_pool2d: {kernel: 2}, relu, flatten]", {"0", "1", "2"}},
      {"[batch_norm2d, relu, {max_pool2d: {kernel: 2}}, silu, relu, batch_norm2d]",
       {"0+1", "2", "3+4+5"}},
  };
  for (const auto& [yaml, groups] : networks) {
    EXPECT_EQ(groups_of(yaml, small_image), groups) << yaml;
  }
}

TEST(fused_cost, counts_bytes_into_and_out_of_a_group_and_none_inside) {
  const network_definition network = defined(R"(
- conv2d: {out_channels: 4, kernel: 1, bias: false, name: x}
- conv2d: {out_channels: 4, kernel: 3, padding: 1, bias: false, name: main}
- conv2d: {out_channels: 4, kernel: 1, bias: false, reads: x}
- batch_norm2d
- add: {from: main}
- relu
)",
                                             small_image);
  const std::vector<layer_group> groups = group_layers(network);
  ASSERT_EQ(groups.size(), 3U);
  const std::int64_t value = 4 * 36;
  const element_sizes half_inside{.inside = 2};
  const cost projection = cost_of(network, groups[2], half_inside);
  EXPECT_EQ(projection.macs, value * 4);
  EXPECT_EQ(projection.parameters, 16 + 16);
  // x and main; the last value goes out as float32.
  EXPECT_EQ(projection.bytes_read, 2 * (2 * value + 32));
  EXPECT_EQ(projection.bytes_written, 4 * value);
  // Only the network's input is float32.
  EXPECT_EQ(cost_of(network, groups[0], half_inside).bytes_read, 4 * 8 * 36 + 2 * 32);
  EXPECT_EQ(cost_of(network, groups[1], half_inside).bytes_read, 2 * (value + 4 * 4 * 9));
  const element_sizes all_half{.input = 2, .output = 2, .inside = 2};
  EXPECT_EQ(cost_of(network, groups[0], all_half).bytes_read, 2 * (8 * 36 + 32));
  EXPECT_EQ(cost_of(network, groups[2], all_half).bytes_written, 2 * value);
}

}  // namespace

}  // namespace graphline::test
