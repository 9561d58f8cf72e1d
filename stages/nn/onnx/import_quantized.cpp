#include <algorithm>
#include <string>
#include <vector>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

using function = pointwise_function;

/// Composes a quantized operator of operators on float32, which is exact for its integers up to
/// 2^24. Operands and results are names.
class quantized_body {
 public:
  quantized_body(onnx_importer& to, const onnx_call& node) : to_(to), node_(node) {}

  std::string input(std::size_t i) const {
    node_.type(i);  // refuses an omitted input
    return node_.node().inputs[i];
  }

  std::string number(float value) {
    return to_.name_of({.element = onnx_type::float32, .values = std::vector{value}});
  }

  std::string in_float32(const std::string& x) {
    if (to_.tensor_of(x).element == onnx_type::float32) return x;
    return to_.apply("Cast", {x}, {{"to", static_cast<std::int64_t>(onnx_type::float32)}});
  }

  /// Returns a scale or zero point, input i, in float32: one number, or one for each position along
  /// dimension `axis` of a tensor.
  std::string along(std::size_t i, std::size_t axis, std::size_t rank) {
    const shape& extents = node_.extents(i);
    const std::string parameter = in_float32(input(i));
    if (extents.elements() == 1 || axis + 1 == rank) return parameter;
    node_.require(extents.rank() == 1 && axis < rank,
                  "has a scale or zero point for each block, which is not supported");
    const shape wanted = first_of(extents[0], rank - axis);
    return to_.apply("Reshape", {parameter, to_.name_of({.element = onnx_type::int64,
                                                         .extents = {std::ssize(wanted.extents())},
                                                         .values = wanted.extents()})});
  }

  /// Returns input x minus its zero point, in float32.
  std::string centered(std::size_t x, std::size_t zero_point, std::size_t axis) {
    const std::string whole = in_float32(input(x));
    if (!node_.has(zero_point)) return whole;
    const bool zero = node_.is_constant(zero_point) &&
                      std::ranges::all_of(node_.floats(zero_point), [](float z) { return z == 0; });
    if (zero) return whole;
    return to_.apply("Sub", {whole, along(zero_point, axis, node_.extents(x).rank())});
  }

  /// Returns round(x / scale) + zero point, saturated; halves round to even.
  std::string quantized(const std::string& x, const std::string& scale,
                        const std::string& zero_point, onnx_type element) {
    const whole_range range = range_of(element);
    node_.require(is_whole(element) && size_of(element) <= 2,
                  "quantizes to a type that is not supported");
    const auto least = static_cast<float>(range.least);
    const auto most = static_cast<float>(range.most);
    const bool constant = to_.tensor_of(x).known() && to_.tensor_of(scale).known() &&
                          to_.tensor_of(zero_point).known();
    if (!constant) {
      return to_.name_of(
          to_.add_pointwise(function::quantize,
                            {to_.value_of(x), to_.value_of(scale), to_.value_of(zero_point)}, least,
                            most),
          element);
    }
    const std::string rounded = to_.apply("Round", {to_.apply("Div", {x, scale})});
    const std::string shifted = to_.apply("Add", {rounded, zero_point});
    const std::string saturated =
        to_.apply("Min", {to_.apply("Max", {shifted, number(least)}), number(most)});
    return to_.apply("Cast", {saturated}, {{"to", static_cast<std::int64_t>(element)}});
  }

 private:
  onnx_importer& to_;
  const onnx_call& node_;
};

/// Returns the axis of a scale with several numbers.
std::size_t quantized_axis(const onnx_call& node) {
  node.require(node.integer("block_size", 0) == 0,
               "has a scale for each block, which is not supported");
  const std::size_t rank = node.extents(0).rank();
  return node.extents(1).elements() == 1 ? 0 : node.axis(node.integer("axis", 1), rank);
}

std::vector<std::string> compose_quantize(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  const std::size_t axis = quantized_axis(node);
  const std::size_t rank = node.extents(0).rank();
  return {body.quantized(body.in_float32(body.input(0)), body.along(1, axis, rank),
                         node.has(2) ? body.along(2, axis, rank) : body.number(0),
                         given_element(node, 0))};
}

std::vector<std::string> compose_dequantize(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  const std::size_t axis = quantized_axis(node);
  const std::string scale = body.along(1, axis, node.extents(0).rank());
  if (node.is_constant(0) && node.is_constant(1)) {
    return {to.apply("Mul", {body.centered(0, 2, axis), scale})};
  }
  const std::string zero_point =
      node.has(2) ? body.along(2, axis, node.extents(0).rank()) : body.number(0);
  return {to.name_of(to.add_pointwise(function::dequantize,
                                      {to.value(0), to.value_of(scale), to.value_of(zero_point)}),
                     onnx_type::float32)};
}

/// Quantizes x to uint8 by its own range, which is extended to contain 0.
std::vector<std::string> compose_dynamic_quantize(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  const std::string x = body.input(0);
  const std::string zero = body.number(0);
  const auto reduced = [&](const char* reduction, const char* with_zero) {
    const std::string found = to.apply(reduction, {x}, {{"keepdims", std::int64_t{0}}});
    return to.apply(with_zero, {found, zero});
  };
  const std::string least = reduced("ReduceMin", "Min");
  const std::string extent = to.apply("Sub", {reduced("ReduceMax", "Max"), least});
  const std::string divided = to.apply("Div", {extent, body.number(255)});
  const std::string scale =
      to.apply("Where", {to.apply("Equal", {extent, zero}), body.number(1), divided});
  const std::string zero_point =
      body.quantized(to.apply("Neg", {least}), scale, zero, onnx_type::uint8);
  return {body.quantized(x, scale, body.in_float32(zero_point), onnx_type::uint8), scale,
          zero_point};
}

std::vector<std::string> compose_matmul_integer(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  const std::size_t a = node.extents(0).rank();
  const std::size_t b = node.extents(1).rank();
  return {to.apply(
      "MatMul", {body.centered(0, 2, a < 2 ? 0 : a - 2), body.centered(1, 3, b < 2 ? 0 : b - 1)})};
}

std::vector<std::string> compose_conv_integer(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  return {
      to.apply("Conv", {body.centered(0, 2, 1), body.centered(1, 3, 0)}, node.node().attributes)};
}

/// Inputs: x, its scale and zero point; y, likewise; scale and zero point of the result.
std::vector<std::string> compose_quantized_matmul(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  const std::size_t a = node.extents(0).rank();
  const std::size_t b = node.extents(3).rank();
  const std::size_t rows = a < 2 ? 0 : a - 2;
  const std::size_t columns = b < 2 ? 0 : b - 1;
  const std::string product =
      to.apply("MatMul", {body.centered(0, 2, rows), body.centered(3, 5, columns)});
  const std::string scale = to.apply("Mul", {body.along(1, rows, a), body.along(4, columns, b)});
  return {body.quantized(product, to.apply("Div", {body.along(6, rows, a), scale}),
                         body.along(7, rows, a), given_element(node, 0))};
}

/// Inputs: x, its scale and zero point; the weight, likewise; scale and zero point of the result;
/// the bias, if any.
std::vector<std::string> compose_quantized_conv(onnx_importer& to, const onnx_call& node) {
  quantized_body body(to, node);
  const std::size_t rank = node.extents(0).rank();
  std::vector<std::string> operands{body.centered(0, 2, 1), body.centered(3, 5, 0)};
  if (node.has(8)) operands.push_back(body.in_float32(body.input(8)));
  const std::string sum = to.apply("Conv", operands, node.node().attributes);
  const std::string scale = to.apply("Mul", {body.along(1, 1, rank), body.along(4, 1, rank)});
  return {body.quantized(sum, to.apply("Div", {body.along(6, 1, rank), scale}),
                         body.along(7, 1, rank), given_element(node, 0))};
}

}  // namespace

const std::map<std::string_view, onnx_composition>& composed_operators() {
  static const std::map<std::string_view, onnx_composition> all = {
      {"ConvInteger", compose_conv_integer},
      {"DequantizeLinear", compose_dequantize},
      {"DynamicQuantizeLinear", compose_dynamic_quantize},
      {"MatMulInteger", compose_matmul_integer},
      {"QLinearConv", compose_quantized_conv},
      {"QLinearMatMul", compose_quantized_matmul},
      {"QuantizeLinear", compose_quantize}};
  return all;
}

}  // namespace graphline::nn::onnx
