// Rows whose number is known only when the model runs: those of NonMaxSuppression, NonZero and
// TopK. tests/models/detections.py compares whole detection heads with ONNX Runtime.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"
#include "tests/stages/nn/onnx/onnx_test_data.hpp"

namespace graphline::test {

using namespace nn;
namespace {

using testing::HasSubstr;

/// A model that reads boxes "x" [1, 8, 4] and scores "y" [1, 2, 8]. It keeps up to 3 boxes of each
/// class, so "rows" is [6, 3].
class head : public model_text {
 public:
  std::string suppress() {
    return node("NonMaxSuppression", {"x", "y", constant({3}), constant({}, {0.5F})});
  }

  onnx_network read(const std::string& output, diagnostics& problems) {
    return import_onnx(model({{}, {}}, output),
                       {{"x", {{1, 8, 4}, dtype::float32}}, {"y", {{1, 2, 8}, dtype::float32}}},
                       {output}, {}, problems);
  }

  const std::string rows = suppress();
  const std::string real = node("Cast", {rows}, {integer("to", 1)});
};

/// "[6, 3], counted", or why the model is refused.
std::string outcome_of(head& model, const std::string& output) {
  diagnostics problems;
  const onnx_network network = model.read(output, problems);
  if (problems.has_errors()) return problems.render();
  const network_definition& definition = network.definition;
  const std::string extents = to_string(definition.shape_of(definition.outputs.at(0)));
  if (definition.outputs.size() == 1) return extents;
  EXPECT_EQ(to_string(definition.values[definition.outputs.at(1)].type), "int64 [1]");
  return extents + ", counted";
}

std::string outcome_of(const std::string& op_type, std::vector<std::string> further,
                       const std::vector<written::message>& attributes, const head& of) {
  head model = of;
  further.insert(further.begin(), model.real);
  return outcome_of(model, model.node(op_type, "last", further, attributes));
}

TEST(onnx_counted_rows, pass_operators_that_compute_each_row_by_itself) {
  head m;
  EXPECT_EQ(outcome_of("Relu", {}, {}, m), "[6, 3], counted");
  EXPECT_EQ(outcome_of("Gather", {m.constant({2, 0})}, {integer("axis", 1)}, m), "[6, 2], counted");
  EXPECT_EQ(outcome_of("Slice", {m.constant({1}), m.constant({3}), m.constant({1})}, {}, m),
            "[6, 2], counted");
  EXPECT_EQ(outcome_of("Slice", {m.constant({0}), m.constant({1000}), m.constant({0})}, {}, m),
            "[6, 3], counted");
  EXPECT_EQ(outcome_of("MatMul", {m.constant({3, 5}, drawn(15, 1))}, {}, m), "[6, 5], counted");
  EXPECT_EQ(outcome_of("ReduceMax", {}, {integers("axes", {1}), integer("keepdims", 0)}, m),
            "[6], counted");
  EXPECT_EQ(outcome_of("Unsqueeze", {}, {integers("axes", {0})}, m), "[1, 6, 3], counted");
  EXPECT_EQ(outcome_of("Transpose", {}, {}, m), "[3, 6], counted");
  EXPECT_EQ(outcome_of("Reshape", {m.constant({-1, 3, 1})}, {}, m), "[6, 3, 1], counted");
  EXPECT_EQ(outcome_of("Concat", {m.real}, {integer("axis", 1)}, m), "[6, 6], counted");
  EXPECT_EQ(outcome_of("TopK", {m.constant({1})}, {integer("axis", 1)}, m), "[6, 1], counted");
}

TEST(onnx_counted_rows, along_another_dimension_are_no_rows_of_a_stage) {
  head m;
  diagnostics problems;
  EXPECT_TRUE(head(m).read(m.real, problems).other_counts.empty());
  const auto moved = m.node("Transpose", "moved", {m.real});
  const auto network = m.read(moved, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.render();
  ASSERT_EQ(network.other_counts.size(), 1U);
  EXPECT_EQ(
      network.other_counts.at(1),
      "'" + moved + ".count' counts along another dimension of '" + moved + "' than the first");
}

TEST(onnx_counted_rows, are_refused_where_their_number_matters) {
  head m;
  const auto refused = [&](const std::string& op_type, const std::vector<std::string>& further,
                           const std::vector<written::message>& attributes) {
    EXPECT_EQ(outcome_of(op_type, further, attributes, m),
              "error: node 'last' (" + op_type +
                  ") may depend on the number of rows, which is known only when the model runs; "
                  "end the model before it with 'outputs', and compute it in a stage that reads "
                  "the rows and "
                  "their count");
  };
  refused("Shape", {}, {});
  refused("Size", {}, {});
  refused("TopK", {m.constant({2})}, {integer("axis", 0)});
  refused("ReduceMax", {}, {integers("axes", {0})});
  refused("Softmax", {}, {integer("axis", 0)});
  refused("CumSum", {m.constant({0})}, {});
  refused("Concat", {m.real}, {integer("axis", 0)});
  refused("Gather", {m.constant({0})}, {integer("axis", 0)});
  refused("Slice", {m.constant({0}), m.constant({2}), m.constant({0})}, {});
  refused("Slice", {m.constant({1}), m.constant({1000}), m.constant({0})}, {});
  refused("Pad", {m.constant({0, 0, 1, 0})}, {});
  refused("Tile", {m.constant({2, 1})}, {});
  refused("Reshape", {m.constant({-1})}, {});
  refused("Reshape", {m.constant({3, 6})}, {});
  refused("MatMul", {m.node("Transpose", {m.real})}, {});
  const auto others = m.node("Cast", {m.suppress()}, {integer("to", 1)});
  const auto most = m.node("Cast", {m.node("ReduceMax", {"x"})}, {integer("to", 7)});
  refused("TopK", {most}, {integer("axis", 1)});
  refused("Add", {others}, {});
  refused("ScatterND", {m.constant({0}), m.constant({3}, {1, 2, 3})}, {});
}

TEST(onnx_counted_rows, of_one_box_have_a_dimension_of_two) {
  model_text text;
  const auto rows =
      text.node("NonMaxSuppression", {"x", text.constant({1, 1, 1}, {0.5F}), text.constant({9})});
  const auto sum = text.node("Add", {rows, rows});
  const auto network = text.network({1, 1, 4}, sum);
  EXPECT_EQ(on_host(network, {{0, 0, 1, 1}}), (values_of_tensors{{0, 0, 0, 0, 0, 0}, {1}}));
}

TEST(onnx_counted_rows, need_computed_boxes_and_sound_parameters) {
  const auto refusal = [](const std::vector<std::string>& inputs, const model_text& text) {
    diagnostics problems;
    model_text model = text;
    const auto rows = model.node("NonMaxSuppression", "n", inputs);
    import_onnx(model.model({{}}, rows), {{"x", {{1, 8, 4}, dtype::float32}}}, {rows}, {},
                problems);
    return problems.render();
  };
  model_text text;
  const auto boxes = text.constant({1, 8, 4}, drawn(32, 1));
  const auto scores = text.constant({1, 2, 8}, drawn(16, 2));
  const auto three = text.constant({3});
  EXPECT_THAT(refusal({boxes, scores, three}, text), HasSubstr("reads only constants"));
  EXPECT_THAT(refusal({"x", scores}, text), HasSubstr("gives no elements"));
  EXPECT_THAT(refusal({"x", scores, three, text.constant({}, {1.5F})}, text),
              HasSubstr("has an IoU threshold that is not from 0 to 1"));
  EXPECT_THAT(refusal({"x", boxes, three}, text),
              HasSubstr("takes boxes [batch, N, 4] and scores [batch, classes, N] of up to 2^24 "
                        "boxes, not [1, 8, 4] and [1, 8, 4]"));
  EXPECT_THAT(refusal({"x", scores, "x"}, text), HasSubstr("needs a constant as its input 2"));
}

TEST(onnx_counted_rows, of_top_k_need_several_elements) {
  model_text text;
  const auto count = text.node("Cast", {"x"}, {integer("to", 7)});
  const auto top = text.node("TopK", "n", {"x", count});
  diagnostics problems;
  import_onnx(text.model({{}}, top), {{"x", {{1}, dtype::float32}}}, {top}, {}, problems);
  EXPECT_EQ(problems.render(),
            "error: node 'n' (TopK) has a computed K along a dimension of extent 1, which is not "
            "supported");
}

/// "y" is the result of an If whose condition is constant, and of whose branches `inner` is one.
written::message conditional(const written::message& inner) {
  written::message branch;
  branch.add(1, inner).add(12, written::value("inner", {}));
  written::message graph;
  graph.add(5, written::tensor("yes", onnx_type::boolean, {}).text(9, written::raw<char>({1})));
  graph.add(1, written::node("If", {"yes"}, {"y"})
                   .add(5, written::attribute("then_branch", 5).add(6, branch))
                   .add(5, written::attribute("else_branch", 5).add(6, branch)));
  graph.add(11, written::value("x", {}));
  return graph;
}

TEST(onnx_counted_rows, are_not_those_of_top_k_if_a_branch_has_a_constant_number) {
  auto graph = conditional(written::node("Identity", {"two"}, {"inner"}));
  graph.add(5,
            written::tensor("two", onnx_type::int64, {1}).text(9, written::raw<std::int64_t>({2})));
  graph.add(1, written::node("TopK", {"x", "y"}, {"z"})).add(12, written::value("z", {}));
  diagnostics problems;
  const auto network = import_onnx(parse_model(written::model(graph).bytes()),
                                   {{"x", {{3}, dtype::float32}}}, {"z"}, {}, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.render();
  EXPECT_EQ(on_host(network, {{1, 3, 2}}), (values_of_tensors{{3, 2}}));
}

TEST(onnx_counted_rows, may_not_come_out_of_a_branch) {
  auto graph = conditional(written::node("NonZero", {"x"}, {"inner"}));
  graph.add(12, written::value("y", {}));
  diagnostics problems;
  import_onnx(parse_model(written::model(graph).bytes()), {{"x", {{3}, dtype::float32}}}, {"y"}, {},
              problems);
  EXPECT_THAT(problems.render(), HasSubstr("output 'y' of the model has rows whose number depends "
                                           "on an 'If', which is not supported"));
}

/// Their inputs but for boxes and scores are constants.
TEST(onnx_counted_rows, are_those_of_the_node_tests_of_onnx) {
  int compared = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/usr/share/libonnx-testdata/data/node")) {
    onnx_model model = read_model(entry.path());
    const std::string op_type = model.graph.nodes.front().op_type;
    if (op_type != "NonMaxSuppression" && op_type != "NonZero") continue;
    SCOPED_TRACE(entry.path());
    std::vector<std::pair<std::string, tensor_type>> types;
    values_of_tensors inputs;
    const auto file = [&](const std::string& name) {
      return entry.path() / "test_data_set_0" / (name + ".pb");
    };
    std::vector<onnx_value> read;
    for (std::size_t i = 0; i < model.graph.inputs.size(); ++i) {
      onnx_tensor data = read_tensor(file("input_" + std::to_string(i)), model.graph.inputs[i]);
      const std::string& name = model.graph.inputs[i].name;
      if (i < 2) {
        read.push_back(model.graph.inputs[i]);
        types.push_back({name, {data.extents, *read_as(data.element)}});
        inputs.push_back(floats_of(data));
      } else {
        data.name = name;
        model.graph.initializers.push_back(std::move(data));
      }
    }
    model.graph.inputs = read;
    const onnx_value& output = model.graph.outputs.front();
    diagnostics problems;
    const onnx_network network = import_onnx(model, types, {output.name}, {}, problems);
    ASSERT_FALSE(problems.has_errors()) << problems.render();
    const values_of_tensors found = on_host(network, inputs);
    const onnx_tensor expected = read_tensor(file("output_0"), output);
    const std::size_t axis = op_type == "NonZero" ? 1 : 0;
    EXPECT_EQ(found[1], (std::vector{static_cast<float>(expected.extents[axis])}));
    const std::size_t lines = axis == 0 ? 1 : static_cast<std::size_t>(expected.extents[0]);
    const std::vector<float> right = floats_of(expected);
    for (std::size_t i = 0; i < right.size(); ++i) {
      const std::size_t line = right.size() / lines;
      EXPECT_EQ(found[0].at(i / line * (found[0].size() / lines) + i % line), right[i]) << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 10);
}

/// As PyTorch exports x[x > 0].
onnx_network positive_elements() {
  model_text text;
  const auto positive = text.node("Greater", {"x", text.constant({}, {0})});
  const auto places = text.node("Transpose", {text.node("NonZero", {positive})});
  return text.network({5, 7}, text.node("GatherND", {"x", places}));
}

TEST(onnx_counted_rows, hold_the_elements_that_a_mask_selects) {
  const auto network = positive_elements();
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::vector<float> x = drawn(35, seed);
    std::vector<float> expected;
    for (const float value : x) {
      if (value > 0) expected.push_back(value);
    }
    const values_of_tensors found = on_host(network, {x});
    ASSERT_EQ(found[1], (std::vector{static_cast<float>(expected.size())}));
    EXPECT_EQ(std::vector(found[0].begin(), found[0].begin() + std::ssize(expected)), expected);
  }
  EXPECT_EQ(on_host(network, {std::vector<float>(35, -1)})[1], std::vector<float>{0});
}

#ifdef GRAPHLINE_CUDA
TEST(onnx_counted_rows, are_computed_on_host_only) {
  try {
    on_cuda_stand_ins(positive_elements(), {drawn(35, 1)});
    ADD_FAILURE() << "not refused";
  } catch (const run_error& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("NonZero runs on 'host' only; split the model before"));
  }
}
#endif

}  // namespace
}  // namespace graphline::test
