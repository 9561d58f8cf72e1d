// Cases that ONNX's node tests omit: attributes of older operator sets, other types, and refusals.

#include "stages/nn/onnx/onnx_constants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "framework/base/error.hpp"

namespace graphline::nn {
namespace {

using testing::HasSubstr;
using list = std::vector<std::int64_t>;
using tensors = std::vector<onnx_tensor>;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr float infinity = std::numeric_limits<float>::infinity();

onnx_tensor integers(const shape& extents, const list& values,
                     onnx_type element = onnx_type::int64) {
  return {.element = element, .extents = extents, .values = values};
}
onnx_tensor integers(const list& values) {
  return integers(shape{std::ssize(values)}, values);
}
onnx_tensor reals(const shape& extents, const std::vector<float>& values,
                  onnx_type element = onnx_type::float32) {
  return {.element = element, .extents = extents, .values = values};
}

onnx_node op(const std::string& op_type, const std::vector<onnx_attribute>& attributes = {},
             std::size_t outputs = 1) {
  return {"n", op_type, "", {}, std::vector<std::string>(outputs, "y"), attributes};
}

/// "int64 [2]: 1 2", for each output.
std::string outputs_of(const onnx_node& node, const tensors& inputs,
                       std::int64_t budget = 1'000'000) {
  std::vector<const onnx_tensor*> pointers;
  for (const onnx_tensor& input : inputs) {
    pointers.push_back(input.element == onnx_type::undefined ? nullptr : &input);
  }
  std::string text;
  for (const onnx_tensor& output : evaluate_onnx(node, pointers, budget)) {
    EXPECT_TRUE(output.known());
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}:", to_string(output.element), to_string(output.extents));
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) text += fmt::format(" {}", value);
        },
        output.values);
  }
  return text;
}

std::string problem(const onnx_node& node, const tensors& inputs, std::int64_t budget = 1'000'000) {
  try {
    return "none: " + outputs_of(node, inputs, budget);
  } catch (const input_error& refusal) {
    return refusal.what();
  }
}

const onnx_tensor six = integers({2, 3}, {1, 2, 3, 4, 5, 6});
const onnx_tensor line = integers({0, 1, 2, 3, 4});

TEST(onnx_constants, take_attributes_of_older_operator_sets) {
  EXPECT_EQ(
      outputs_of(op("Slice", {{"starts", list{1}}, {"ends", list{-1}}, {"axes", list{1}}}), {six}),
      "int64 [2, 1]: 2 5");
  EXPECT_EQ(outputs_of(op("Squeeze", {{"axes", list{-1}}}), {integers({2, 1}, {1, 2})}),
            "int64 [2]: 1 2");
  EXPECT_EQ(outputs_of(op("Unsqueeze", {{"axes", list{0, 2}}}), {integers({1, 2})}),
            "int64 [1, 2, 1]: 1 2");
  EXPECT_EQ(outputs_of(op("Split", {{"split", list{1, 2}}, {"axis", std::int64_t{1}}}, 2), {six}),
            "int64 [2, 1]: 1 4; int64 [2, 2]: 2 3 5 6");
  EXPECT_EQ(outputs_of(op("Clip", {{"min", 2.0F}, {"max", 4.0F}}), {reals({3}, {1, 3, 5})}),
            "float32 [3]: 2 3 4");
  EXPECT_EQ(outputs_of(op("Pad", {{"pads", list{1, 2}}, {"value", 9.0F}}), {reals({2}, {1, 3})}),
            "float32 [5]: 9 1 3 9 9");
  EXPECT_EQ(outputs_of(op("ReduceSum", {{"axes", list{-1}}, {"keepdims", std::int64_t{0}}}), {six}),
            "int64 [2]: 6 15");
}

TEST(onnx_constants, take_inputs_of_later_operator_sets) {
  EXPECT_EQ(outputs_of(op("ReduceMean"), {six, integers({0})}), "int64 [1, 3]: 2 3 4");
  EXPECT_EQ(outputs_of(op("Clip"), {integers({most, -3}), integers(shape{}, {0})}),
            fmt::format("int64 [2]: {} 0", most));
  EXPECT_EQ(outputs_of(op("Split", {}, 2), {line}), "int64 [3]: 0 1 2; int64 [2]: 3 4");
  EXPECT_EQ(outputs_of(op("Pad", {{"mode", std::string("wrap")}}),
                       {line, integers({2, 1}), {}, integers({-1})}),
            "int64 [8]: 3 4 0 1 2 3 4 0");
  EXPECT_EQ(outputs_of(op("Pad"), {six, integers({-1, 1}), integers(shape{}, {7}), integers({1})}),
            "int64 [2, 3]: 2 3 7 5 6 7");
  EXPECT_EQ(outputs_of(op("Pad", {{"mode", std::string("reflect")}}),
                       {integers({1, 2}), integers({3, 0})}),
            "int64 [5]: 2 1 2 1 2");
}

TEST(onnx_constants, slice_as_python_does) {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return outputs_of(op("Slice"),
                      {line, integers({start}), integers({end}), integers({0}), integers({step})});
  };
  EXPECT_EQ(slice(most, least, -1), "int64 [5]: 4 3 2 1 0");
  EXPECT_EQ(slice(-2, most, 1), "int64 [2]: 3 4");
  EXPECT_EQ(slice(1, -1, 2), "int64 [2]: 1 3");
  EXPECT_EQ(slice(3, 1, 1), "int64 [0]:");
  EXPECT_EQ(slice(1, most, most), "int64 [1]: 1");
  EXPECT_EQ(slice(3, least, least), "int64 [1]: 3");
}

TEST(onnx_constants, are_of_each_form_of_constant) {
  EXPECT_EQ(outputs_of(op("Constant", {{"value", six}}), {}), "int64 [2, 3]: 1 2 3 4 5 6");
  EXPECT_EQ(outputs_of(op("Constant", {{"value_int", std::int64_t{7}}}), {}), "int64 []: 7");
  EXPECT_EQ(outputs_of(op("Constant", {{"value_ints", list{7, 8}}}), {}), "int64 [2]: 7 8");
  EXPECT_EQ(outputs_of(op("Constant", {{"value_float", 0.5F}}), {}), "float32 []: 0.5");
  EXPECT_EQ(outputs_of(op("Constant", {{"value_floats", std::vector{0.5F}}}), {}),
            "float32 [1]: 0.5");
  EXPECT_EQ(outputs_of(op("ConstantOfShape"), {integers({2})}), "float32 [2]: 0 0");
  EXPECT_EQ(outputs_of(op("Range"),
                       {integers(shape{}, {3}), integers(shape{}, {-2}), integers(shape{}, {-2})}),
            "int64 [3]: 3 1 -1");
  EXPECT_EQ(outputs_of(op("Range"),
                       {integers(shape{}, {3}), integers(shape{}, {1}), integers(shape{}, {1})}),
            "int64 [0]:");
  EXPECT_EQ(outputs_of(op("Range"), {integers(shape{}, {least}), integers(shape{}, {most}),
                                     integers(shape{}, {std::int64_t{1} << 62})}),
            "int64 [4]: -9223372036854775808 -4611686018427387904 0 4611686018427387904");
}

TEST(onnx_constants, need_only_the_extents_for_a_shape) {
  const onnx_tensor type{.element = onnx_type::float32, .extents = {2, 3, 4}};
  EXPECT_EQ(outputs_of(op("Shape", {{"start", std::int64_t{-2}}}), {type}), "int64 [2]: 3 4");
  EXPECT_EQ(outputs_of(op("Size"), {type}), "int64 []: 24");
  EXPECT_THAT(problem(op("Relu"), {type}),
              HasSubstr("node 'n' (Relu) needs a constant as its input 0"));
}

TEST(onnx_constants, are_cast_as_numpy_does) {
  const auto to = [](onnx_type element) {
    return op("Cast", {{"to", static_cast<std::int64_t>(element)}});
  };
  EXPECT_EQ(outputs_of(to(onnx_type::int32), {reals({3}, {-1.7F, 1.7F, 3e9F})}),
            "int32 [3]: -1 1 -1294967296");
  EXPECT_EQ(outputs_of(to(onnx_type::int64), {reals({2}, {infinity, std::nanf("")})}),
            fmt::format("int64 [2]: {} {}", least, least));
  EXPECT_EQ(outputs_of(to(onnx_type::boolean), {reals({3}, {0, 0.5F, -2})}), "bool [3]: 0 1 1");
  EXPECT_EQ(outputs_of(to(onnx_type::uint8), {integers({-1, 257})}), "uint8 [2]: 255 1");
  EXPECT_EQ(outputs_of(to(onnx_type::float16), {reals({2}, {1.0001F, 1e6F})}),
            "float16 [2]: 1 inf");
  EXPECT_EQ(outputs_of(to(onnx_type::bfloat16), {reals({1}, {1.0078126F})}),
            "bfloat16 [1]: 1.0078125");
  EXPECT_EQ(outputs_of(to(onnx_type::float64), {integers({3})}), "float64 [1]: 3");
}

TEST(onnx_constants, compute_with_integers_as_c_does) {
  const auto of = [](const char* op_type, std::int64_t a, std::int64_t b) {
    return outputs_of(op(op_type), {integers({a}), integers({b})});
  };
  const auto text = [](std::int64_t value) { return fmt::format("int64 [1]: {}", value); };
  EXPECT_EQ(of("Div", -7, 2), text(-3));
  EXPECT_EQ(of("Div", least, -1), text(least));
  EXPECT_EQ(of("Mod", least, -1), text(0));
  EXPECT_EQ(of("Mod", -7, 2), text(1));
  EXPECT_EQ(of("Add", most, 1), text(least));
  EXPECT_EQ(of("Sub", least, 1), text(most));
  EXPECT_EQ(of("Mul", most, 2), text(-2));
  EXPECT_EQ(of("Pow", -3, 3), text(-27));
  const auto small = [](std::int64_t value) { return integers({1}, {value}, onnx_type::uint8); };
  EXPECT_EQ(outputs_of(op("Sub"), {small(1), small(2)}), "uint8 [1]: 255");
  EXPECT_EQ(outputs_of(op("Neg"), {integers({least})}), text(least));
  EXPECT_EQ(outputs_of(op("Abs"), {integers({least, -3})}), fmt::format("int64 [2]: {} 3", least));
  EXPECT_EQ(outputs_of(op("Sign"), {integers({-3, 0, 4})}), "int64 [3]: -1 0 1");
  EXPECT_EQ(outputs_of(op("Relu"), {integers({-3, 4})}), "int64 [2]: 0 4");
}

/// As exporters compute sizes.
TEST(onnx_constants, round_numbers_that_float32_does_not_have) {
  const auto of = [](const char* op_type, double value) {
    return outputs_of(
        op(op_type),
        {{.element = onnx_type::float64, .extents = {1}, .values = std::vector{value}}});
  };
  EXPECT_EQ(of("Floor", 11.999999999), "float64 [1]: 11");
  EXPECT_EQ(of("Ceil", 3.0000000001), "float64 [1]: 4");
  EXPECT_EQ(of("Round", 2.4999999999), "float64 [1]: 2");
  EXPECT_EQ(of("Round", 2.5), "float64 [1]: 2");
  EXPECT_EQ(of("Sqrt", 1e-60), fmt::format("float64 [1]: {}", std::sqrt(1e-60)));
  EXPECT_EQ(of("Log", 1e300), fmt::format("float64 [1]: {}", std::log(1e300)));
  EXPECT_EQ(of("Reciprocal", 1e-60), "float64 [1]: 1e+60");
}

TEST(onnx_constants, shift_bits_within_their_width) {
  const auto of = [](const char* direction, std::int64_t bits) {
    return outputs_of(
        op("BitShift", {{"direction", std::string(direction)}}),
        {integers({1}, {200}, onnx_type::uint8), integers({1}, {bits}, onnx_type::uint8)});
  };
  EXPECT_EQ(of("LEFT", 1), "uint8 [1]: 144");
  EXPECT_EQ(of("RIGHT", 3), "uint8 [1]: 25");
  EXPECT_EQ(of("LEFT", 64), "uint8 [1]: 0");
}

TEST(onnx_constants, propagate_nan) {
  const onnx_tensor some = reals({3}, {1, std::nanf(""), 2});
  EXPECT_EQ(outputs_of(op("Max"), {some, reals({}, {1.5F})}), "float32 [3]: 1.5 nan 2");
  EXPECT_EQ(outputs_of(op("Min"), {reals({}, {1.5F}), some}), "float32 [3]: 1 nan 1.5");
  EXPECT_EQ(outputs_of(op("ReduceMax"), {some}), "float32 [1]: nan");
  EXPECT_EQ(outputs_of(op("Relu"), {some}), "float32 [3]: 1 nan 2");
  EXPECT_EQ(outputs_of(op("Equal"), {some, some}), "bool [3]: 1 0 1");
}

TEST(onnx_constants, reduce_nothing_to_the_neutral_element) {
  const onnx_tensor nothing = reals({2, 0}, {});
  EXPECT_EQ(outputs_of(op("ReduceMax"), {nothing}), "float32 [1, 1]: -inf");
  EXPECT_EQ(outputs_of(op("ReduceMin", {{"axes", list{1}}}), {nothing}), "float32 [2, 1]: inf inf");
  EXPECT_EQ(outputs_of(op("ReduceProd"), {nothing}), "float32 [1, 1]: 1");
  EXPECT_THAT(outputs_of(op("ReduceMean"), {nothing}), HasSubstr("nan"));
  EXPECT_THAT(problem(op("ReduceMean"), {integers({0}, {})}),
              HasSubstr("is the mean of no integers"));
  EXPECT_EQ(outputs_of(op("ReduceSum"), {nothing}), "float32 [1, 1]: 0");
  EXPECT_EQ(outputs_of(op("Transpose"), {nothing}), "float32 [0, 2]:");
}

TEST(onnx_constants, refuse_invalid_nodes) {
  const onnx_tensor text{.element = onnx_type::string, .extents = {1}};
  const auto axis = [](std::int64_t value) { return onnx_attribute{"axis", value}; };
  const auto mode = [](const char* name) { return onnx_attribute{"mode", std::string(name)}; };
  const onnx_tensor wide = integers({1}, {0}, onnx_type::uint64);
  const std::tuple<onnx_node, tensors, const char*> cases[] = {
      {op("Softmax"), {line}, "node 'n' (Softmax) is not an operator that constants are comp"},
      {{"n", "Add", "ai.other", {}, {"y"}, {}}, {line, line}, "is not an operator"},
      {op("Identity"), {text}, "has an input 0 of type string"},
      {op("Relu"), {}, "has no input 0"},
      {op("Add"), {line, {}}, "has no input 1"},
      {op("Add"), {line, reals({5}, {1, 2, 3, 4, 5})}, "has inputs of different types"},
      {op("Add"), {line, integers({1, 2})}, "has shapes that do not broadcast"},
      {op("Div"), {line, integers({0})}, "divides an integer by zero"},
      {op("Sub"), {wide, integers({1}, {1}, onnx_type::uint64)}, "gives numbers beyond 2^63 - 1"},
      {op("Exp"), {line}, "is not defined for integers"},
      {op("Mod"), {reals({1}, {1}), reals({1}, {1})}, "is not defined for floats"},
      {op("Cast", {{"to", std::int64_t{8}}}), {line}, "gives elements of a type that is not"},
      {op("Where"), {reals({1}, {1}), line, line}, "has no integers as its input 0"},
      {op("Where"), {line, line, reals({1}, {1})}, "has inputs of different types"},
      {op("Constant"), {}, "has no value of a type that is supported"},
      {op("Constant", {{"value", text}}), {}, "has a value of a type that is not supported"},
      {op("ConstantOfShape", {{"value", six}}), {line}, "has a value that is not one number"},
      {op("ConstantOfShape"), {integers({-1})}, "gives the impossible shape '[-1]'"},
      {op("Range"), {line, line, line}, "takes three numbers of one type"},
      {op("Range"), {integers({1}), integers({1}), integers({0})}, "has a step of 0"},
      {op("Range"), {reals({}, {0}), reals({}, {NAN}), reals({}, {1})}, "that is not a number"},
      {op("Gather"), {line, integers({5})}, "has an index beyond its axis"},
      {op("Gather"), {integers(shape{}, {1}), line}, "has an axis 0 of a tensor of 0 dim"},
      {op("Slice"),
       {line, integers({0}), integers({})},
       "has different numbers of starts, ends, axes"},
      {op("Slice"),
       {line, integers({0, 0}), integers({1, 1}), integers({0, -1})},
       "has an axis twice"},
      {op("Slice"),
       {line, integers({0}), integers({1}), integers({0}), integers({0})},
       "has a step of 0"},
      {op("Concat", {axis(0)}), {line, reals({1}, {1})}, "has inputs of different types"},
      {op("Concat", {axis(0)}), {line, six}, "has shapes that do not fit"},
      {op("Concat", {axis(1)}), {six, integers({1, 1}, {1})}, "has shapes that do not fit"},
      {op("Split", {}, 2), {line, integers({5})}, "needs one part per output"},
      {op("Split", {}, 2), {line, integers({5, 1})}, "has parts that do not add up"},
      {op("Split", {}, 2), {line, integers({1, 1})}, "has parts that do not add up"},
      {op("Unsqueeze"), {line, integers({0, -3})}, "has an axis twice"},
      {op("Squeeze"), {line, integers({0})}, "does not keep the number of elements"},
      {op("Reshape"), {line, integers({2, 2})}, "does not keep the number of elements"},
      {op("Reshape"), {line, integers({-1, 2})}, "does not keep the number of elements"},
      {op("Reshape"), {line, integers({-1, -1})}, "has an extent that cannot be inferred"},
      {op("Reshape"), {line, integers({5, 0})}, "copies an extent that its input lacks"},
      {op("Transpose", {{"perm", list{0, 0}}}), {six}, "has a 'perm' that is not a permutation"},
      {op("Tile"), {six, integers({1})}, "needs one repeat per axis"},
      {op("Pad", {mode("odd")}), {line, integers({1, 1})}, "has a mode that is not supported"},
      {op("Pad"), {line, integers({1})}, "needs two pads per axis"},
      {op("Pad"), {line, integers({-3, -3})}, "takes away more elements than it has"},
      {op("Pad"), {line, integers({1, 1}), reals({}, {1})}, "has inputs of different types"},
      {op("Pad", {mode("edge")}), {integers({0}, {}), integers({1, 1})}, "repeats elements"},
      {op("EyeLike"), {line}, "takes a matrix"},
      {op("BitShift"), {line, line}, "has a direction that is not known"},
      {op("Trilu"), {line}, "takes matrices"},
      {op("Trilu"), {six, line}, "takes one diagonal"}};
  for (const auto& [written, inputs, expected] : cases) {
    EXPECT_THAT(problem(written, inputs), HasSubstr(expected)) << written.op_type;
  }
}

TEST(onnx_constants, stay_within_the_budget) {
  constexpr std::int64_t large = std::int64_t{1} << 62;
  const onnx_tensor one = integers(shape{}, {1});
  const std::tuple<onnx_node, tensors> cases[] = {
      {op("ConstantOfShape"), {integers({1000, 1000})}},
      {op("ConstantOfShape"), {integers({0, large})}},
      {op("ConstantOfShape"), {integers(list(65, 1))}},
      {op("ConstantOfShape"), {integers({large, large})}},
      {op("Expand"), {line, integers({large, 1})}},
      {op("Tile"), {line, integers({large})}},
      {op("Range"), {one, integers(shape{}, {most}), one}},
      {op("Range"), {reals({}, {0}), reals({}, {infinity}), reals({}, {1})}},
      {op("Pad"), {line, integers({most, most})}},
      {op("Pad"), {line, integers({999'000, 1})}},
      {op("Relu"), {reals({0, large, large}, {})}}};
  for (const auto& [written, inputs] : cases) {
    EXPECT_THAT(problem(written, inputs), testing::Not(HasSubstr("none"))) << written.op_type;
  }
  const onnx_node add = op("Add");
  const onnx_tensor* inputs[] = {&line, &line};
  std::int64_t budget = 31;
  evaluate_onnx(add, inputs, budget);
  EXPECT_EQ(budget, 1) << "five elements and an extent are read twice and given once";
  EXPECT_THROW(evaluate_onnx(add, inputs, budget), input_error);
  EXPECT_EQ(budget, 1);
}

}  // namespace
}  // namespace graphline::nn
