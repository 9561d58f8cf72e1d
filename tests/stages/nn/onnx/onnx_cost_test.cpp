// The cost of a node is that of the model as written: its inputs, parameters and outputs count
// once, regardless of how many layers it becomes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "stages/network_stage.hpp"
#include "stages/nn/fusion/fusion.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"

namespace graphline::test {

using namespace nn;
namespace {

struct counted_node {
  const char* op_type;
  shape x;
  std::vector<shape> weights;  ///< parameters; a rank of 0 omits the input
  std::vector<written::message> attributes;
  std::int64_t written;                   ///< elements
  std::optional<std::int64_t> read = {};  ///< elements of x; default: all
  bool rearranges = true;                 ///< becomes more than one layer that moves elements
};

cost sum_of_layers(const onnx_network& network) {
  const auto definition = std::make_shared<const network_definition>(network.definition);
  return prepared_network(definition, {}, {}, {}).cost;
}

/// As executed: the sum over groups.
cost sum_of_groups(const onnx_network& network) {
  cost sum;
  for (const layer_group& group : group_layers(network.definition)) {
    sum += cost_of(network.definition, group);
  }
  return sum;
}

onnx_network network_of(const counted_node& node) {
  model_text model;
  std::vector<std::string> inputs{"x"};
  for (const shape& weight : node.weights) {
    const bool none = weight.rank() == 0;
    const auto count = static_cast<std::size_t>(weight.elements());
    inputs.push_back(none ? "" : model.constant(weight.extents(), drawn(count, 1)));
  }
  return model.network(node.x, model.node(node.op_type, inputs, node.attributes));
}

void expect_as_written(const counted_node& node, const cost& counted) {
  std::int64_t parameters = 0;
  for (const shape& weight : node.weights) {
    if (weight.rank() > 0) parameters += weight.elements();
  }
  EXPECT_EQ(counted.parameters, parameters);
  EXPECT_EQ(counted.bytes_read, 4 * (node.read.value_or(node.x.elements()) + parameters));
  EXPECT_EQ(counted.bytes_written, 4 * node.written);
  EXPECT_TRUE(node.rearranges || counted.bytes_rearranged == 0) << counted.bytes_rearranged;
}

const counted_node counted_nodes[] = {
    {"Conv", {1, 4, 9}, {{6, 4, 3}, {6}}, {}, 6 * 7, {}, false},
    {"Conv", {1, 4, 9, 8}, {{6, 2, 3, 3}, {6}}, {integer("group", 2)}, 6 * 7 * 6, {}, false},
    {"Conv",
     {1, 4, 5, 9, 8},
     {{6, 4, 3, 3, 3}, {6}},
     {integers("pads", {1, 1, 1, 1, 1, 1})},
     6 * 5 * 9 * 8},
    {"Conv", {2, 4, 5, 9, 8}, {{6, 4, 3, 3, 3}}, {}, 2 * 6 * 3 * 7 * 6},
    {"ConvTranspose", {1, 4, 9}, {{4, 6, 3}, {6}}, {}, 6 * 11, {}, false},
    {"ConvTranspose", {1, 4, 9, 8}, {{4, 6, 3, 3}, {6}}, {}, 6 * 11 * 10, {}, false},
    {"MaxPool", {1, 4, 9}, {}, {integers("kernel_shape", {3})}, 4 * 7, {}, false},
    {"MaxPool", {1, 4, 9, 8}, {}, {integers("kernel_shape", {3, 3})}, 4 * 7 * 6, {}, false},
    {"MaxPool", {1, 4, 5, 9, 8}, {}, {integers("kernel_shape", {3, 3, 3})}, 4 * 3 * 7 * 6},
    {"AveragePool", {1, 4, 5, 9, 8}, {}, {integers("kernel_shape", {2, 2, 2})}, 4 * 4 * 8 * 7},
    {"GlobalAveragePool", {1, 4, 5, 9, 8}, {}, {}, 4, {}, false},
    {"GlobalMaxPool", {1, 4, 9}, {}, {}, 4, {}, false},
    {"InstanceNormalization", {2, 3, 4, 5}, {{3}, {3}}, {}, 2 * 3 * 4 * 5},
    {"LayerNormalization", {2, 3, 4, 5}, {{5}, {5}}, {}, 2 * 3 * 4 * 5, {}, false},
    {"LayerNormalization", {2, 3, 5}, {{5}}, {}, 2 * 3 * 5},
    {"LRN", {2, 3, 4, 5}, {}, {integer("size", 3)}, 2 * 3 * 4 * 5},
    {"Softmax", {2, 3, 4}, {}, {integer("axis", 1)}, 2 * 3 * 4},
    {"LogSoftmax", {2, 3, 4}, {}, {integer("axis", 2)}, 2 * 3 * 4},
    {"Gemm", {5, 4}, {{5, 6}, {6}}, {integer("transA", 1)}, 4 * 6},
    {"Gemm", {4, 5}, {{6, 5}}, {integer("transB", 1)}, 4 * 6, {}, false},
    {"Gemm", {4, 5}, {{5, 6}, {4, 6}}, {}, 4 * 6},
    {"MatMul", {2, 4, 5}, {{5, 6}}, {}, 2 * 4 * 6, {}, false},
    {"MatMul", {2, 4, 5}, {{2, 5, 6}}, {}, 2 * 4 * 6, {}, false},
    {"MatMul", {5}, {{5, 6}}, {}, 6, {}, false},
    {"LSTM", {7, 2, 5}, {{1, 12, 5}, {1, 12, 3}, {1, 24}}, {integer("hidden_size", 3)}, 7 * 2 * 3},
    {"LSTM", {7, 2, 5}, {{1, 12, 5}, {1, 12, 3}}, {integer("hidden_size", 3)}, 7 * 2 * 3},
    {"ReduceSumSquare", {2, 3, 4}, {}, {integers("axes", {1})}, 2 * 4},
    {"ReduceL2", {2, 3, 4}, {}, {integers("axes", {2})}, 2 * 3},
    {"ReduceLogSum", {2, 3, 4}, {}, {integers("axes", {0})}, 3 * 4},
    {"DepthToSpace", {1, 8, 3, 3}, {}, {integer("blocksize", 2)}, 72, {}, false},
    {"SpaceToDepth", {1, 2, 4, 6}, {}, {integer("blocksize", 2)}, 48, {}, false},
    {"Transpose", {2, 3, 4}, {}, {integers("perm", {2, 0, 1})}, 24, {}, false},
    {"Flatten", {2, 3, 4}, {}, {}, 0, 0, false},  // the elements stay where they are
    {"PRelu", {2, 3, 4}, {{3, 1}}, {}, 24, {}, false},
    {"Celu", {2, 3, 4}, {}, {}, 24},
};

TEST(onnx_cost, is_that_of_the_node_as_written) {
  for (const counted_node& node : counted_nodes) {
    SCOPED_TRACE(std::string(node.op_type) + " of " + to_string(node.x));
    const onnx_network network = network_of(node);
    expect_as_written(node, sum_of_layers(network));
    const cost groups = sum_of_groups(network);
    EXPECT_EQ(groups.bytes_read, sum_of_layers(network).bytes_read);
    EXPECT_EQ(groups.bytes_written, node.written * 4);
  }
}

TEST(onnx_cost, of_a_selection_counts_the_selected_elements) {
  const auto selected = [](const char* op_type, const std::vector<std::vector<std::int64_t>>& rest,
                           const std::vector<written::message>& attributes = {}) {
    model_text model;
    std::vector<std::string> inputs{"x"};
    for (const std::vector<std::int64_t>& numbers : rest) inputs.push_back(model.constant(numbers));
    return sum_of_layers(model.network({6, 5, 4}, model.node(op_type, inputs, attributes)));
  };
  const cost slice = selected("Slice", {{1, 0}, {5, 2}, {0, 2}});
  EXPECT_EQ(slice.bytes_read, 4 * 4 * 5 * 2);
  EXPECT_EQ(slice.bytes_written, 4 * 4 * 5 * 2);
  const cost gather = selected("Gather", {{0, 5, 2}});
  EXPECT_EQ(gather.bytes_read, 4 * 3 * 5 * 4);
  EXPECT_EQ(gather.bytes_written, 4 * 3 * 5 * 4);
  const cost pad = selected("Pad", {{1, 0, 0, 0, 2, 0}});
  EXPECT_EQ(pad.bytes_read, 4 * 6 * 5 * 4);
  EXPECT_EQ(pad.bytes_written, 4 * 7 * 7 * 4);
  // Cut on one side and padded on the other.
  const cost both = selected("Pad", {{-1, 0, 0, 0, 2, 0}});
  EXPECT_EQ(both.bytes_read, 4 * 5 * 5 * 4);
  EXPECT_EQ(both.bytes_written, 4 * 5 * 7 * 4);
}

TEST(onnx_cost, counts_the_flops_of_three_dimensions_as_written) {
  const auto flops = [](const counted_node& node) { return sum_of_layers(network_of(node)).flops; };
  const shape x{1, 4, 5, 9, 8};
  const std::int64_t windows = 4 * 3 * 7 * 6;
  const auto kernel = integers("kernel_shape", {3, 3, 3});
  EXPECT_EQ(flops({"MaxPool", x, {}, {kernel}, 0}), windows * 26);
  EXPECT_EQ(flops({"AveragePool", x, {}, {kernel}, 0}), windows * 27);
  EXPECT_EQ(flops({"Conv", x, {{6, 4, 3, 3, 3}}, {}, 0}), 6 * 3 * 7 * 6 * 4 * 27 * 2);
}

TEST(onnx_cost, counts_rearranged_bytes_of_a_three_dimensional_convolution) {
  const onnx_network network = network_of({"Conv", {1, 4, 5, 9, 8}, {{6, 4, 3, 3, 3}}, {}, 0});
  // The planes in each window are gathered, transposed and read again; the result is transposed.
  const std::int64_t planes = 3 * 3 * 4 * 9 * 8;
  const std::int64_t given = 6 * 3 * 7 * 6;
  EXPECT_EQ(sum_of_layers(network).bytes_rearranged,
            4 * (4 * planes + 2 * given) + 4 * (planes - 4 * 5 * 9 * 8));
}

}  // namespace
}  // namespace graphline::test
