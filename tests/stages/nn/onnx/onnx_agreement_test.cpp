// Operators where the specification is ambiguous or ONNX Runtime and PyTorch deviate, and what is
// refused. tests/models/operators.py compares random nodes of all operators.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"

namespace graphline::test {

using namespace nn;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

written::message words(std::string_view name, const std::string& text) {
  return written::attribute(name, 3).text(4, text);
}

/// Runs a node of `x` on the host.
std::vector<float> given(model_text& model, const shape& extents, const std::vector<float>& x,
                         const std::string& output) {
  return on_host(model.network(extents, output), {x}).front();
}

/// The reason why a node is refused, or "none".
std::string refusal(model_text& model, const shape& extents, const std::string& output) {
  try {
    model.network(extents, output);
  } catch (const input_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(onnx_resize, has_as_many_elements_as_float32_gives) {
  for (const auto& [from, scale, to] : {std::tuple{60, 0.7F, 42}, {10, 0.1F, 1}, {50, 1.3F, 65}}) {
    model_text model;
    const auto resized = model.node("Resize", {"x", "", model.constant({4}, {1, 1, 1, scale})},
                                    {words("mode", "linear")});
    const onnx_network network = model.network({1, 1, 2, from}, resized);
    EXPECT_EQ(network.definition.shape_of(network.definition.outputs.front()),
              (shape{1, 1, 2, to}));
  }
}

TEST(onnx_resize, takes_the_nearest_elements_by_float32) {
  model_text model;
  const auto resized = model.node(
      "Resize", {"x", "", model.constant({2}, {1, 0.2F})},
      {words("coordinate_transformation_mode", "asymmetric"), words("nearest_mode", "floor")});
  EXPECT_THAT(given(model, {1, 20}, counted(20), resized), ElementsAre(0, 5, 10, 15));
}

TEST(onnx_resize, copies_what_keeps_its_extents) {
  model_text model;
  const auto resized =
      model.node("Resize", {"x", "", model.constant({2}, {1.1F, 1.2F})}, {words("mode", "linear")});
  EXPECT_THAT(given(model, {2, 3}, counted(6), resized), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(onnx_pad, repeats_what_negative_pads_leave) {
  model_text model;
  const auto padded = model.node("Pad", {"x", model.constant({2, -1})}, {words("mode", "wrap")});
  EXPECT_THAT(given(model, {4}, counted(4), padded), ElementsAre(1, 2, 0, 1, 2));
}

TEST(onnx_axes, must_differ) {
  const shape square{2, 2};
  model_text pad;
  EXPECT_THAT(
      refusal(pad, square,
              pad.node("Pad", {"x", pad.constant({1, 1, 1, 1}), "", pad.constant({0, -2})})),
      HasSubstr("has an axis twice"));
  model_text resize;
  EXPECT_THAT(refusal(resize, square,
                      resize.node("Resize", {"x", "", resize.constant({2}, {2, 2})},
                                  {integers("axes", {1, -1})})),
              HasSubstr("has an axis twice"));
  model_text reduce;
  EXPECT_THAT(refusal(reduce, square, reduce.node("ReduceMax", {"x"}, {integers("axes", {1, -1})})),
              HasSubstr("has an axis twice"));
}

TEST(onnx_log_sum_exp, does_not_overflow) {
  for (const auto& [a, b, sum] : {std::tuple{1000.0F, 1000.0F, 1000.0F + std::log(2.0F)},
                                  {-1000.0F, -1000.0F, -1000.0F + std::log(2.0F)},
                                  {infinity, 1.0F, infinity},
                                  {-infinity, -infinity, -infinity},
                                  {-infinity, 3.0F, 3.0F}}) {
    model_text model;
    const auto reduced = model.node("ReduceLogSumExp", {"x"}, {integer("keepdims", 0)});
    EXPECT_THAT(given(model, {2}, {a, b}, reduced), ElementsAre(testing::FloatEq(sum)));
  }
}

TEST(onnx_clip, has_the_largest_number_as_default_bound) {
  model_text model;
  const auto clipped = model.node("Clip", {"x", model.constant({}, {0})});
  EXPECT_THAT(given(model, {2}, {infinity, -3}, clipped),
              ElementsAre(std::numeric_limits<float>::max(), 0));
}

TEST(onnx_batch_normalization, takes_the_statistics_of_one_batch_that_trains) {
  model_text model;
  const auto ones = model.constant({2}, {1, 1});
  const auto norm =
      model.node("BatchNormalization",
                 {"x", model.constant({2}, {1, 10}), model.constant({2}, {0, 5}), ones, ones},
                 {integer("training_mode", 1)});
  model_text other = model;
  // Means 2 and 4, standard deviations 1 and 3.
  EXPECT_THAT(given(model, {1, 2, 2}, {1, 3, 1, 7}, norm),
              testing::Pointwise(testing::FloatNear(1e-4F), {-1.0F, 1.0F, -5.0F, 15.0F}));
  EXPECT_THAT(refusal(other, {2, 2, 2}, norm), HasSubstr("has statistics of a batch"));
}

TEST(onnx_transposed_convolution, has_the_stated_extents) {
  const auto upsampled = [](std::int64_t wanted) {
    model_text model;
    const auto node = model.node("ConvTranspose", {"x", model.constant({1, 1, 2}, {1, 10})},
                                 {integers("output_shape", {wanted}), integers("strides", {2})});
    return given(model, {1, 1, 2}, {1, 2}, node);
  };
  // The odd element of padding is before: crops [1, 10, 2, 20].
  EXPECT_THAT(upsampled(3), ElementsAre(10, 2, 20));
  EXPECT_THAT(upsampled(4), ElementsAre(1, 10, 2, 20));
  EXPECT_THAT(upsampled(5), ElementsAre(1, 10, 2, 20, 0));
  model_text model;
  const auto node = model.node("ConvTranspose", {"x", model.constant({1, 1, 2}, {1, 10})},
                               {integers("output_padding", {1})});
  EXPECT_THAT(refusal(model, {1, 1, 2}, node),
              HasSubstr("adds 1 elements at the end, which are to be fewer than its stride of 1"));
}

TEST(onnx_pool, may_have_a_window_beyond_its_input_in_ceil_mode) {
  model_text model;
  const auto pooled = model.node(
      "AveragePool", {"x"},
      {integers("kernel_shape", {3}), integers("strides", {2}), integer("ceil_mode", 1)});
  EXPECT_THAT(given(model, {1, 1, 2}, {1, 2}, pooled), ElementsAre(1.5F));
}

TEST(onnx_pool, has_no_window_in_its_padding_alone) {
  model_text model;
  const auto pooled = model.node(
      "MaxPool", {"x"}, {integers("kernel_shape", {1, 2}), integers("pads", {0, 2, 0, 0})});
  EXPECT_THAT(refusal(model, {1, 1, 4, 4}, pooled),
              HasSubstr("has a padding of 2 for a kernel that covers 2"));
}

TEST(onnx_dimensions, are_at_most_twelve) {
  const shape many(std::vector<std::int64_t>(13, 1));
  model_text model;
  EXPECT_THAT(refusal(model, many, model.node("Relu", {"x"})),
              HasSubstr("takes at most 12 dimensions"));
  model_text flat;
  EXPECT_THAT(refusal(flat, many, flat.node("Flatten", {"x"})),
              HasSubstr("takes at most 12 dimensions"));
}

TEST(onnx_dropout, may_train_with_a_ratio_of_0) {
  for (const auto& [ratio, why] : {std::pair{0.0F, "none"}, {0.5F, "trains"}}) {
    model_text model;
    const auto yes = model.node("Cast", {model.constant({}, {1})}, {integer("to", 9)});
    const auto node = model.node("Dropout", {"x", model.constant({}, {ratio}), yes});
    EXPECT_THAT(refusal(model, {3}, node), HasSubstr(why));
  }
}

TEST(onnx_concat, skips_constants_without_elements) {
  model_text model;
  const auto joined =
      model.node("Concat", {model.constant({2, 0}, {}), "x", "x"}, {integer("axis", 1)});
  EXPECT_THAT(given(model, {2, 1}, {1, 2}, joined), ElementsAre(1, 1, 2, 2));
  model_text alone;
  const auto one = alone.node("Concat", {"x", alone.constant({2, 0}, {})}, {integer("axis", 1)});
  EXPECT_THAT(given(alone, {2, 1}, {1, 2}, one), ElementsAre(1, 2));
  model_text other;
  EXPECT_THAT(
      refusal(other, {2, 1},
              other.node("Concat", {"x", other.constant({3, 0}, {})}, {integer("axis", 1)})),
      HasSubstr("has shapes that do not fit together"));
}

class onnx_gather : public carried_out {};
GRAPHLINE_CARRY_OUT(onnx_gather);

TEST_P(onnx_gather, counts_negative_indices_from_the_end_and_reports_others) {
  const auto gathered = [](std::int64_t axis, const std::vector<float>& indices) {
    model_text model;
    const auto taken = model.node("Gather", "look_up", {model.constant({3, 4}, counted(12)), "x"},
                                  {integer("axis", axis)});
    diagnostics problems;
    const auto network =
        import_onnx(model.model({{}}, taken), {{"x", {{std::ssize(indices)}, dtype::int32}}},
                    {taken}, {}, problems);
    problems.throw_if_errors();
    return on()(network, {indices}).front();
  };
  EXPECT_THAT(gathered(0, {-1, 0, -3}), ElementsAre(8, 9, 10, 11, 0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(gathered(1, {-4, 3}), ElementsAre(0, 3, 4, 7, 8, 11));
  const auto problem = [&](std::int64_t axis, const std::vector<float>& indices) {
    try {
      gathered(axis, indices);
    } catch (const run_error& found) {
      return std::string(found.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(problem(0, {2, 3}), "'look_up' reads row 3 of a table of 3 rows");
  EXPECT_EQ(problem(0, {-4, 1}), "'look_up' reads row -4 of a table of 3 rows");
  EXPECT_EQ(problem(1, {40000, 1}),
            "'look_up' reads index 40000 of dimension 1, which has 4 elements");
}

TEST_P(onnx_gather, and_scatters_report_indices_out_of_range_in_each_dimension) {
  const auto problem = [](const std::string& op_type, const std::vector<float>& indices) {
    model_text model;
    std::vector<std::string> reads{model.constant({3, 4}, counted(12)), "x"};
    if (op_type == "ScatterND") reads.push_back(model.constant({1}, {7}));
    const auto node = model.node(op_type, "look_up", reads);
    diagnostics problems;
    const auto network =
        import_onnx(model.model({{}}, node), {{"x", {{1, 2}, dtype::int32}}}, {node}, {}, problems);
    problems.throw_if_errors();
    try {
      on()(network, {indices});
    } catch (const run_error& found) {
      return std::string(found.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(problem("GatherND", {-3, 3}), "none");
  EXPECT_EQ(problem("GatherND", {0, -5}),
            "'look_up' reads index -5 of dimension 1, which has 4 elements");
  EXPECT_EQ(problem("ScatterND", {3, 0}), "'look_up' reads row 3 of a table of 3 rows");
  EXPECT_EQ(problem("GatherElements", {2, 9}), "'look_up' reads row 9 of a table of 3 rows");
}

TEST(onnx_scatter, keeps_the_last_update_of_a_row) {
  model_text model;
  const auto at = model.node("Reshape", {model.constant({2, 0, -1}), model.constant({3, 1})});
  const auto updates = model.constant({3, 2}, {10, 11, 20, 21, 30, 31});
  const auto replaced = model.node("ScatterND", {"x", at, updates});
  EXPECT_THAT(given(model, {3, 2}, counted(6), replaced), ElementsAre(20, 21, 2, 3, 30, 31));
}

TEST(onnx_einsum, sums_products) {
  const auto sum = [](const std::string& equation, const shape& extents, bool twice) {
    model_text model;
    const std::vector<std::string> inputs =
        twice ? std::vector<std::string>{"x", "x"} : std::vector<std::string>{"x"};
    return given(model, extents, {1, 2, 3, 4},
                 model.node("Einsum", inputs, {words("equation", equation)}));
  };
  EXPECT_THAT(sum("ij->ji", {2, 2}, false), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(sum("ij->", {2, 2}, false), ElementsAre(10));
  EXPECT_THAT(sum("ij,jk", {2, 2}, true), ElementsAre(7, 10, 15, 22));
  EXPECT_THAT(sum("ij,kj->ki", {2, 2}, true), ElementsAre(5, 11, 11, 25));
  EXPECT_THAT(sum("...ij,...jk->...ki", {1, 2, 2}, true), ElementsAre(7, 15, 10, 22));
  EXPECT_THAT(sum("a,b->ba", {4}, true), testing::SizeIs(16));
  EXPECT_THAT(sum("ii->i", {2, 2}, false), ElementsAre(1, 4));
  EXPECT_THAT(sum("ii,jj->", {2, 2}, true), ElementsAre(25));
  EXPECT_THAT(sum("iji->j", {1, 4, 1}, false), ElementsAre(1, 2, 3, 4));
}

TEST(onnx_lstm, has_weights_of_its_hidden_size) {
  model_text model;
  const auto node = model.node(
      "LSTM",
      {"x", model.constant({1, 8, 3}, drawn(24, 1)), model.constant({1, 8, 2}, drawn(16, 2))},
      {integer("hidden_size", 3)});
  EXPECT_THAT(refusal(model, {1, 1, 3}, node),
              HasSubstr("has weights of another hidden size than its 'hidden_size'"));
}

/// Such tensors take few bytes in a file.
TEST(onnx_budget, is_not_raised_by_tensors_of_strings_or_without_elements) {
  constexpr std::int64_t half = std::int64_t{1} << 62;
  written::message graph;
  graph.add(5, written::tensor("words", onnx_type::string, {std::int64_t{1} << 40}));
  graph.add(5, written::tensor("none", onnx_type::float32, {half, half, 0}));
  graph.add(5, written::tensor("extents", onnx_type::int64, {1})
                   .text(9, written::raw<std::int64_t>({std::int64_t{1} << 27})));
  graph.add(1, written::node("ConstantOfShape", {"extents"}, {"zeros"}));
  graph.add(1, written::node("Add", {"x", "zeros"}, {"y"}));
  graph.add(11, written::value("x", {"n"})).add(12, written::value("y", {"n"}));
  diagnostics problems;
  import_onnx(parse_model(written::model(graph).bytes()), {{"x", {{1}, dtype::float32}}}, {"y"}, {},
              problems);
  EXPECT_THAT(problems.render(), HasSubstr("asks for too many elements"));
}

}  // namespace
}  // namespace graphline::test
