#include <fmt/format.h>

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

onnx_type as_written(const onnx_call& call, std::size_t /*output*/) {
  return onnx_type_of(call.integer("to", 0));
}

onnx_type of_top(const onnx_call& call, std::size_t output) {
  return output == 0 ? call.type(0).element : onnx_type::int64;
}

onnx_type of_quantized(const onnx_call& call, std::size_t /*output*/) {
  if (call.has(2)) return call.type(2).element;
  const std::int64_t written = call.integer("output_dtype", 0);
  return written != 0 ? onnx_type_of(written) : onnx_type::uint8;
}

onnx_type of_dynamically_quantized(const onnx_call& /*call*/, std::size_t output) {
  return output == 1 ? onnx_type::float32 : onnx_type::uint8;
}

using element_rules = std::map<std::string_view, element_rule>;

/// Operators whose integer results wrap.
const element_rules& arithmetic_rules() {
  static const element_rules all = {{"Abs", as_input<0>},        {"Add", as_input<0>},
                                    {"CumSum", as_input<0>},     {"Div", as_input<0>},
                                    {"MatMul", as_input<0>},     {"Mod", as_input<0>},
                                    {"Mul", as_input<0>},        {"Neg", as_input<0>},
                                    {"Pow", as_input<0>},        {"ReduceL1", as_input<0>},
                                    {"ReduceMean", as_input<0>}, {"ReduceProd", as_input<0>},
                                    {"ReduceSum", as_input<0>},  {"ReduceSumSquare", as_input<0>},
                                    {"Sub", as_input<0>}};
  return all;
}

/// Other operators that accept or give integers or bools.
const element_rules& other_rules() {
  static const element_rules all = [] {
    constexpr auto boolean = always<onnx_type::boolean>;
    constexpr auto int32 = always<onnx_type::int32>;
    constexpr auto int64 = always<onnx_type::int64>;
    element_rules made = {{"And", boolean},
                          {"ArgMax", int64},
                          {"ArgMin", int64},
                          {"Cast", as_written},
                          {"Clip", as_input<0>},
                          {"Concat", as_input<0>},
                          {"ConvInteger", int32},
                          {"DepthToSpace", as_input<0>},
                          {"DequantizeLinear", always<onnx_type::float32>},
                          {"DynamicQuantizeLinear", of_dynamically_quantized},
                          {"Equal", boolean},
                          {"Expand", as_input<0>},
                          {"Gather", as_input<0>},
                          {"GatherElements", as_input<0>},
                          {"GatherND", as_input<0>},
                          {"Greater", boolean},
                          {"GreaterOrEqual", boolean},
                          {"IsInf", boolean},
                          {"IsNaN", boolean},
                          {"Less", boolean},
                          {"LessOrEqual", boolean},
                          {"MatMulInteger", int32},
                          {"Max", as_input<0>},
                          {"MaxPool", as_input<0>},
                          {"Min", as_input<0>},
                          {"NonMaxSuppression", int64},
                          {"NonZero", int64},
                          {"Not", boolean},
                          {"OneHot", as_input<2>},
                          {"Or", boolean},
                          {"QLinearConv", as_input<7>},
                          {"QLinearMatMul", as_input<7>},
                          {"QuantizeLinear", of_quantized},
                          {"ReduceMax", as_input<0>},
                          {"ReduceMin", as_input<0>},
                          {"Relu", as_input<0>},
                          {"Scatter", as_input<0>},
                          {"ScatterElements", as_input<0>},
                          {"ScatterND", as_input<0>},
                          {"Sign", as_input<0>},
                          {"SpaceToDepth", as_input<0>},
                          {"TopK", of_top},
                          {"Transpose", as_input<0>},
                          {"Where", as_input<1>},
                          {"Xor", boolean}};
    for (const auto& [name, _] : reshapings()) made.emplace(name, as_input<0>);
    for (const auto& [name, _] : selectings()) made.emplace(name, as_input<0>);
    return made;
  }();
  return all;
}

element_rule rule_of(const onnx_call& call) {
  for (const element_rules* all : {&arithmetic_rules(), &other_rules()}) {
    const auto found = all->find(call.node().op_type);
    if (found != all->end()) return found->second;
  }
  return nullptr;
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
  return arithmetic_rules().contains(call.node().op_type);
}

}  // namespace graphline::nn::onnx
