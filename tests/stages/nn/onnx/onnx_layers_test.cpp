// Layers and constants of imported models, and refused nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/nn/fusion/fusion.hpp"
#include "stages/nn/host/lowering.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"

namespace graphline::test {

using namespace nn;
namespace {

written::message real(std::string_view name, float value) {
  return written::attribute(name, 1).real(2, value);
}

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
  const auto first = model.node("MatMul", {"x", weight});  // reads it transposed
  const auto second = model.node("Mul", {first, weight});
  const auto network =
      model.network({4, 4}, model.node("Gemm", {second, weight}, {real("alpha", 0.5F)}));
  std::vector<std::string> names;
  for (const named_tensor& constant : network.constants) names.push_back(constant.name);
  EXPECT_THAT(names, ElementsAre(weight, weight + ".2", weight + ".3"));
  EXPECT_THAT(parameters_of(network), ElementsAre(16, 0, 0));
}

TEST(onnx_constants, of_one_tensor_exist_once) {
  model_text model;
  const auto weight = model.constant({4, 4}, drawn(16, 1));
  const auto same = model.node("Identity", {weight});
  const auto turned = model.node("Transpose", {weight});
  const auto also_turned = model.node("Transpose", {same});
  auto value = model.node("MatMul", {"x", weight});
  for (const auto& each : {same, turned, also_turned}) value = model.node("MatMul", {value, each});
  const auto network = model.network({5, 4}, value);
  EXPECT_EQ(network.constants.size(), 2U);  // of both orders
  EXPECT_THAT(parameters_of(network), ElementsAre(16, 0, 0, 0));
  for (const layer_group& group : group_layers(network.definition)) {
    EXPECT_EQ(cost_of(network.definition, group).bytes_read, 4 * (20 + 16));  // in every frame
  }

  const weight_table weights(network.definition, network.constants);
  const auto on = open_host_device(1);
  host_call(*on, [&] {
    const auto program = lower_network_for_host(network.definition, weights, {.owner = "trial"});
    EXPECT_EQ(program.constants.size(), 2U);
  });
#ifdef GRAPHLINE_CUDA
  reference_library library;
  const cpu_network lowered(network.definition, network.constants, library);
  const auto constants =
      std::ranges::count(lowered.program().buffers, buffer_place::weights, &program_buffer::place);
  EXPECT_EQ(constants, 2);
#endif
}

TEST(onnx_constants, of_different_tensors_count_apart) {
  model_text model;
  const auto first = model.node("Mul", {"x", model.constant({4}, {1, 1, 1, 1})});
  const auto network =
      model.network({5, 4}, model.node("Mul", {first, model.constant({4}, {1, 1, 1, 1})}));
  EXPECT_THAT(parameters_of(network), ElementsAre(4, 4));
}

TEST(onnx_nodes, are_refused_by_their_operator_after_a_refused_one_too) {
  model_text model;
  const auto first = model.node("Hardmax", "first", {"x"});
  const auto second = model.node("Relu", "second", {first});
  const auto third = model.node("GridSample", "third", {second, second});
  diagnostics out;
  import_onnx(model.model({{}}, third), {{"x", {{2, 3}, dtype::float32}}}, {third}, {}, out);
  EXPECT_EQ(out.render(),
            "error: each of 2 nodes (Hardmax, GridSample) is not supported: 'first', 'third'");
}

TEST(onnx_nodes, are_refused_once_for_each_reason) {
  const auto refused = [](std::size_t count, const char* domain, const char* op_type) {
    written::message graph;
    std::string value = "x";
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      graph.add(1, written::node(op_type, {value}, {name}, name).text(7, domain));
      value = name;
    }
    graph.add(1, written::node("Upsample", {value, value}, {"last"}, "last"));
    graph.add(11, written::value("x", {})).add(12, written::value("last", {}));
    diagnostics out;
    import_onnx(parse_model(written::model(graph, 13).bytes()), {{"x", {{2, 3}, dtype::float32}}},
                {"last"}, {}, out);
    return out.render();
  };
  EXPECT_EQ(refused(1, "", "Hardmax"), "error: node 'n0' (Hardmax) is not supported");
  EXPECT_EQ(refused(62, "", "Hardmax"),
            "error: each of 62 nodes (Hardmax) is not supported: 'n0', 'n1', 'n2' and 59 more");
  EXPECT_THAT(
      refused(4, "ai.onnx.ml", "Scaler"),
      HasSubstr("each of 4 nodes (Scaler) is of 'ai.onnx.ml', which is not supported: 'n0', 'n1', "
                "'n2' and 1 more; compute trees, encoders and the like in a stage"));
  for (const char* op_type : {"Loop", "Scan", "SequenceMap"}) {
    EXPECT_THAT(refused(1, "", op_type), HasSubstr("which exporters unroll"));
  }
}

TEST(onnx_nodes, are_named_where_the_same_is_wrong_with_several) {
  model_text model;
  auto value = model.node("Softmax", "a", {"x"}, {integer("axis", 7)});
  diagnostics out;
  const auto both = model.node("Softmax", "b", {"x"}, {integer("axis", 7)});
  const auto sum = model.node("Add", {value, both});
  import_onnx(model.model({{}}, sum), {{"x", {{2, 3}, dtype::float32}}}, {sum}, {}, out);
  EXPECT_EQ(out.render(),
            "error: each of 2 nodes (Softmax) has an axis 7 of a tensor of 2 dimensions: 'a', 'b'");
}

/// The reason why a constant is not evaluated.
std::string refusal(model_text& model, const std::string& constant) {
  const auto sum = model.node("Add", {"x", constant});
  diagnostics out;
  import_onnx(model.model({{}}, sum), {{"x", {{1}, dtype::float32}}}, {sum}, {}, out);
  return out.render();
}

TEST(onnx_nodes, of_constants_are_evaluated_within_limits) {
  model_text slow;
  std::vector<std::string> factors;
  for (unsigned i = 0; i < 2; ++i) {
    factors.push_back(slow.constant({2000, 2000}, drawn(4'000'000, i)));
  }
  EXPECT_THAT(refusal(slow, slow.node("MatMul", "n", factors)),
              HasSubstr("node 'n' (MatMul) computes too much with constants"));
  model_text beyond;
  const auto indices = beyond.constant({5});
  EXPECT_THAT(refusal(beyond, beyond.node("GatherElements", "n", {beyond.constant({3}), indices})),
              HasSubstr("node 'n' (GatherElements) has an index beyond its axis"));
  model_text large;
  const auto one = large.constant({1});
  const auto scattered =
      large.node("ScatterElements", "n", {one, large.constant({0}), large.constant({1 << 25})});
  EXPECT_THAT(
      refusal(large, scattered),
      HasSubstr("node 'n' (ScatterElements) has integers beyond 2^24, which is not supported"));
  model_text whole;
  EXPECT_THAT(refusal(whole, whole.node("Softmax", "n", {whole.constant({1, 2})})),
              HasSubstr("node 'n' (Softmax) computes with int64, which is not supported"));
}

TEST(onnx_nodes, of_constants_are_refused_with_their_reason) {
  model_text all;
  const auto line = all.constant({5}, {5, 3, 4, 1, 2});
  const auto six = all.constant({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto zero = all.constant({0});
  const std::pair<std::string, const char*> cases[] = {
      {all.node("CumSum", {line, all.constant({0, 0})}), "needs exactly one axis"},
      {all.node("CumSum", {line, all.constant({1})}), "has an axis 1 of a tensor of 1 dimensions"},
      {all.node("TopK", {line, all.constant({6})}), "takes 6 of 5 elements"},
      {all.node("OneHot", {zero, all.constant({3}), line}), "takes two values"},
      {all.node("GatherElements", {six, zero}), "has indices of other dimensions than what they"},
      {all.node("GatherND", {line, all.constant({5})}), "has an index beyond its axis"},
      {all.node("GatherND", {line, six}), "has indices of more dimensions than what they are of"},
      {all.node("ScatterElements", {line, zero, all.constant({2}, {1, 2})}),
       "has updates that do not fit"}};
  std::vector<std::string> nodes;
  for (const auto& [node, why] : cases) nodes.push_back(node);
  const std::string refusals = refusal(all, all.node("Sum", nodes));
  for (const auto& [node, why] : cases) {
    const std::string operation = node.substr(0, node.find_first_of("0123456789"));
    EXPECT_THAT(refusals, HasSubstr("node '" + node + "' (" + operation + ") " + why));
  }
}

TEST(onnx_nodes, of_constants_are_sorted_as_pytorch_does) {
  model_text model;
  const std::vector<float> some = {1, std::nanf(""), 2, 2, 1, 2};
  const auto order = model.node("ArgMax", {model.constant({2, 3}, some)}, {integer("axis", 1)});
  const auto sum = model.node("Add", {"x", model.node("Cast", {order}, {integer("to", 1)})});
  EXPECT_THAT(on_host(model.network({2, 1}, sum), {{0, 0}}).front(), ElementsAre(1, 0));
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
