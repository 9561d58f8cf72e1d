#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns the element type of an output; empty for operators of floating-point numbers alone.
std::optional<onnx_type> ruled_element(const onnx_call& call, std::size_t output) {
  const std::string_view name = call.node().op_type;
  if (is_one_of(name, {"ConvInteger", "MatMulInteger"})) return onnx_type::int32;
  if (is_one_of(name, {"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero"}))
    return onnx_type::int64;
  if (is_one_of(name, {"And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less",
                       "LessOrEqual", "Not", "Or", "Xor"})) {
    return onnx_type::boolean;
  }
  if (name == "Cast") return onnx_type_of(call.integer("to", 0));
  if (name == "DequantizeLinear") return onnx_type::float32;
  if (name == "DynamicQuantizeLinear") return output == 1 ? onnx_type::float32 : onnx_type::uint8;
  if (name == "QuantizeLinear") {
    if (call.has(2)) return call.type(2).element;
    const std::int64_t written = call.integer("output_dtype", 0);
    return written != 0 ? onnx_type_of(written) : onnx_type::uint8;
  }
  if (name == "OneHot") return call.type(2).element;
  if (is_one_of(name, {"QLinearConv", "QLinearMatMul"})) return call.type(7).element;
  if (name == "Where") return call.type(1).element;
  if (name == "TopK" && output == 1) return onnx_type::int64;
  const bool keeps =
      gives_wrapped(call) || reshapings().contains(name) || selectings().contains(name) ||
      is_one_of(name, {"Clip",           "Concat",    "DepthToSpace", "Expand",  "Gather",
                       "GatherElements", "GatherND",  "Max",          "MaxPool", "Min",
                       "ReduceMax",      "ReduceMin", "Relu",         "Scatter", "ScatterElements",
                       "ScatterND",      "Sign",      "SpaceToDepth", "TopK",    "Transpose"});
  return keeps ? std::optional(call.type(0).element) : std::nullopt;
}

}  // namespace

void require_elements(const onnx_call& call) {
  if (ruled_element(call, 0)) return;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    // Further constants are parameters, such as shapes.
    if (call.has(i) && (i == 0 || !call.is_constant(i)) && is_whole(call.type(i).element)) {
      call.refuse(
          fmt::format("computes with {}, which is not supported", to_string(call.type(i).element)));
    }
  }
}

onnx_type given_element(const onnx_call& call, std::size_t output) {
  const onnx_type element = ruled_element(call, output).value_or(onnx_type::float32);
  return is_whole(element) ? element : onnx_type::float32;
}

bool gives_wrapped(const onnx_call& call) {
  return is_one_of(call.node().op_type,
                   {"Abs", "Add", "CumSum", "Div", "MatMul", "Mod", "Mul", "Neg", "Pow", "Sub",
                    "ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
}

}  // namespace graphline::nn::onnx
