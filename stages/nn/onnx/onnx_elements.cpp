#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

/// The element type of an operator's outputs.
using element_rule = onnx_type (*)(const onnx_call&, std::size_t output);

template <std::size_t input>
onnx_type as_input(const onnx_call& call, std::size_t /*output*/) {
  return call.type(input).element;
}

template <onnx_type element>
onnx_type always(const onnx_call& /*call*/, std::size_t /*output*/) {
  return element;
}

onnx_type of_quantized(const onnx_call& call, std::size_t /*output*/) {
  if (call.has(2)) return call.type(2).element;
  const std::int64_t written = call.integer("output_dtype", 0);
  return written != 0 ? onnx_type_of(written) : onnx_type::uint8;
}

using element_rules = std::map<std::string_view, element_rule>;
using names = std::initializer_list<std::string_view>;

/// Operators whose integer results wrap. Their results have the type of the first input.
constexpr std::string_view arithmetic[] = {
    "Abs",      "Add",        "CumSum",     "Div",       "MatMul",
    "Mod",      "Mul",        "Neg",        "Pow",       "Sub",
    "ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare"};

/// Returns the rules of operators that accept or give integers or bools.
const element_rules& known_rules() {
  static const element_rules all = [] {
    element_rules made = {{"ConvInteger", always<onnx_type::int32>},
                          {"DequantizeLinear", always<onnx_type::float32>},
                          {"MatMulInteger", always<onnx_type::int32>},
                          {"OneHot", as_input<2>},
                          {"QLinearConv", as_input<7>},
                          {"QLinearMatMul", as_input<7>},
                          {"QuantizeLinear", of_quantized},
                          {"Where", as_input<1>}};
    made["Cast"] = [](const onnx_call& call, std::size_t /*output*/) {
      return onnx_type_of(call.integer("to", 0));
    };
    made["DynamicQuantizeLinear"] = [](const onnx_call& /*call*/, std::size_t output) {
      return output == 1 ? onnx_type::float32 : onnx_type::uint8;
    };
    made["TopK"] = [](const onnx_call& call, std::size_t output) {
      return output == 0 ? call.type(0).element : onnx_type::int64;
    };
    const auto add = [&](const auto& operators, element_rule rule) {
      for (const std::string_view name : operators) made.emplace(name, rule);
    };
    add(names{"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero"}, always<onnx_type::int64>);
    add(names{"And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual",
              "Not", "Or", "Xor"},
        always<onnx_type::boolean>);
    add(names{"Clip", "Concat", "DepthToSpace", "Expand", "Gather", "GatherElements", "GatherND",
              "Max", "MaxPool", "Min", "ReduceMax", "ReduceMin", "Relu", "Scatter",
              "ScatterElements", "ScatterND", "Sign", "SpaceToDepth", "Transpose"},
        as_input<0>);
    add(arithmetic, as_input<0>);
    for (const auto& [name, _] : reshapings()) made.emplace(name, as_input<0>);
    for (const auto& [name, _] : selectings()) made.emplace(name, as_input<0>);
    return made;
  }();
  return all;
}

/// Returns null for operators of floating-point numbers alone.
element_rule rule_of(const onnx_call& call) {
  const auto found = known_rules().find(call.node().op_type);
  return found == known_rules().end() ? nullptr : found->second;
}

}  // namespace

void require_elements(const onnx_call& call) {
  if (rule_of(call) != nullptr) return;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    // Further constants are parameters, such as shapes.
    if (call.has(i) && (i == 0 || !call.is_constant(i)) && is_whole(call.type(i).element)) {
      call.refuse(
          fmt::format("computes with {}, which is not supported", to_string(call.type(i).element)));
    }
  }
}

onnx_type given_element(const onnx_call& call, std::size_t output) {
  const element_rule rule = rule_of(call);
  const onnx_type element = rule == nullptr ? onnx_type::float32 : rule(call, output);
  return is_whole(element) ? element : onnx_type::float32;
}

bool gives_wrapped(const onnx_call& call) {
  return std::ranges::find(arithmetic, call.node().op_type) != std::end(arithmetic);
}

}  // namespace graphline::nn::onnx
