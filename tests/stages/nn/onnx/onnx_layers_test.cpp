// Layers and constants of imported models, and refused nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/nn/fusion/fusion.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"

namespace graphline::test {

using namespace nn;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> parameters_of(const onnx_network& network) {
  std::vector<std::int64_t> counts;
  for (const network_layer& layer : network.definition.layers) {
    counts.push_back(layer.cost.parameters);
  }
  return counts;
}

TEST(onnx_parameters, are_the_numbers_that_the_model_holds) {
  model_text model;
  const auto product = model.node("MatMul", {"x", model.constant({4, 6}, drawn(24, 1))});
  const auto sum = model.node("Add", {product, model.constant({6}, drawn(6, 2))});
  const auto half = model.node("Mul", {sum, model.constant({}, {0.5F})});
  const auto slope = model.constant({6}, drawn(6, 3));
  const auto bent = model.node("PRelu", {half, slope});
  const auto network = model.network({5, 4}, model.node("PRelu", {bent, slope}));
  EXPECT_THAT(parameters_of(network), ElementsAre(24, 6, 0, 6, 0));  // the slope once
  EXPECT_EQ(network.definition.layers[1].cost.bytes_read, 4 * (30 + 6));
}

TEST(onnx_parameters, are_none_of_what_stands_in_for_a_scale) {
  model_text model;
  const auto scale = model.constant({3}, drawn(3, 1));
  const auto bias = model.constant({3}, drawn(3, 2));
  const auto network =
      model.network({2, 3, 4, 5}, model.node("InstanceNormalization", {"x", scale, bias}));
  std::int64_t parameters = 0;
  for (const std::int64_t count : parameters_of(network)) parameters += count;
  EXPECT_EQ(parameters, 6);
  const auto& layers = network.definition.layers;
  const auto norm = std::ranges::find_if(layers, [](const network_layer& layer) {
    return std::holds_alternative<layer_norm_layer>(layer.operation);
  });
  ASSERT_NE(norm, layers.end());
  EXPECT_EQ(norm->cost.bytes_read, 4 * 2 * 3 * 4 * 5);
}

TEST(onnx_constants, are_named_as_in_the_model_and_differ) {
  model_text model;
  const auto weight = model.constant({4, 4}, drawn(16, 1));
  const auto first = model.node("MatMul", {"x", weight});
  const auto second = model.node("MatMul", {first, weight});
  const auto network = model.network({5, 4}, model.node("MatMul", {second, weight}));
  std::vector<std::string> names;
  for (const named_tensor& constant : network.constants) names.push_back(constant.name);
  EXPECT_THAT(names, ElementsAre(weight, weight + ".2", weight + ".3"));
}

TEST(onnx_nodes, are_refused_by_their_operator_after_a_refused_one_too) {
  model_text model;
  const auto first = model.node("Hardmax", "first", {"x"});
  const auto second = model.node("Relu", "second", {first});
  const auto third = model.node("GridSample", "third", {second, second});
  diagnostics out;
  import_onnx(model.model({{}}, third), {{"x", {{2, 3}, dtype::float32}}}, {third}, {}, out);
  EXPECT_EQ(out.all().size(), 2U);
  EXPECT_THAT(out.render(), HasSubstr("node 'first' (Hardmax) is not supported"));
  EXPECT_THAT(out.render(), HasSubstr("node 'third' (GridSample) is not supported"));
}

TEST(onnx_nodes, of_constants_are_evaluated_within_limits) {
  const auto refusal = [](model_text& model, const std::string& constant) {
    const auto sum = model.node("Add", {"x", constant});
    diagnostics out;
    import_onnx(model.model({{}}, sum), {{"x", {{1}, dtype::float32}}}, {sum}, {}, out);
    return out.render();
  };
  model_text slow;
  std::vector<std::string> factors;
  for (unsigned i = 0; i < 2; ++i) {
    factors.push_back(slow.constant({1500, 1500}, drawn(2'250'000, i)));
  }
  EXPECT_THAT(refusal(slow, slow.node("MatMul", "n", factors)),
              HasSubstr("node 'n' (MatMul) computes too much with constants"));
  model_text whole;
  EXPECT_THAT(refusal(whole, whole.node("Softmax", "n", {whole.constant({1, 2})})),
              HasSubstr("node 'n' (Softmax) computes with integers, which is not supported"));
}

TEST(onnx_nodes, whose_input_has_four_dimensions_are_one_with_what_follows_a_product) {
  model_text model;
  const auto product = model.node("MatMul", "n", {"x", model.constant({4, 6}, drawn(24, 1))});
  const auto sum = model.node("Add", "sum", {product, model.constant({6}, drawn(6, 2))});
  const auto network = model.network({2, 3, 5, 4}, model.node("Relu", "relu", {sum}));
  const auto groups = group_layers(network.definition);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(name_of(network.definition, groups[0]), "n+sum+relu");
}

TEST(onnx_nodes, tell_which_matrices_do_not_fit) {
  model_text model;
  const auto product = model.node("MatMul", "n", {"x", model.constant({8, 4}, drawn(32, 1))});
  diagnostics out;
  import_onnx(model.model({{}}, product), {{"x", {{2, 7}, dtype::float32}}}, {product}, {}, out);
  EXPECT_THAT(out.render(),
              HasSubstr("node 'n' (MatMul) multiplies [2, 7] by [8, 4], whose extents do not fit"));
}

}  // namespace
}  // namespace graphline::test
