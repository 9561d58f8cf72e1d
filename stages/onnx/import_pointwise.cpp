#include <algorithm>
#include <limits>

#include "stages/onnx/onnx_importer.hpp"

namespace graphline {
namespace {

using function = pointwise_function;

onnx_operator one_operand(function of) {
  return one_output([of](onnx_importer& in) { return in.add_pointwise(of, {in.value(0)}); });
}

/// A function with attributes that are alpha and, for some, a second one.
onnx_operator one_operand(function of, float alpha, const char* second = nullptr, float beta = 0) {
  return one_output([=](onnx_importer& in) {
    return in.add_pointwise(of, {in.value(0)}, in.number("alpha", alpha),
                            second != nullptr ? in.number(second, beta) : 0.0F);
  });
}

/// Activations that products take into their epilogue.
onnx_operator activates(activation of) {
  return one_output(
      [of](onnx_importer& in) { return in.add(activation_layer{of}, {in.value(0)}); });
}

onnx_operator two_operands(function of) {
  return one_output([of](onnx_importer& in) {
    return in.add_pointwise(of, {in.value(0), in.value(1)});
  });
}

/// Of two values that no constant and equal shapes make a residual connection of, a product takes
/// it into its epilogue.
std::size_t add_two(onnx_importer& in, std::size_t x, std::size_t y, bool computed) {
  if (computed && in.shape_of(x) == in.shape_of(y)) return in.add(add_layer{}, {x, y});
  return in.add_pointwise(function::add, {x, y});
}

std::size_t import_add(onnx_importer& in) {
  const bool computed = !in.is_constant(0) && !in.is_constant(1);
  return add_two(in, in.value(0), in.value(1), computed);
}

/// Any number of operands, one after the other.
std::size_t fold(onnx_importer& in, function of) {
  std::size_t result = in.value(0);
  for (std::size_t i = 1; i < in.node().inputs.size(); ++i) {
    result = in.add_pointwise(of, {result, in.value(i)});
  }
  return result;
}

std::size_t import_mean(onnx_importer& in) {
  const std::size_t sum = fold(in, function::add);
  const float share = 1.0F / static_cast<float>(in.node().inputs.size());
  return in.add_pointwise(function::mul, {sum, in.add_constant({share}, {})});
}

std::size_t import_clip(onnx_importer& in) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float low = -infinity;
  float high = infinity;
  if (in.opset() < 11) {
    low = in.number("min", low);
    high = in.number("max", high);
  } else {
    if (in.has(1)) low = in.floats(1, "the minimum").at(0);
    if (in.has(2)) high = in.floats(2, "the maximum").at(0);
  }
  if (low == 0 && high == 6) return in.add(activation_layer{activation::relu6}, {in.value(0)});
  // As min(max(x, low), high) has it, whose result is `high` where that is below `low`.
  return in.add_pointwise(function::clip, {in.value(0)}, std::min(low, high), high);
}

std::size_t import_pow(onnx_importer& in) {
  if (in.is_constant(1)) {
    const std::vector<float> exponent = in.floats(1, "the exponent");
    const bool keeps_shape = in.rank(1) <= in.rank(0);
    if (exponent.size() == 1 && keeps_shape) {
      const std::size_t x = in.value(0);
      if (exponent[0] == 2) return in.add_pointwise(function::mul, {x, x});
      if (exponent[0] == 0.5F) return in.add_pointwise(function::sqrt, {x});
    }
  }
  return in.add_pointwise(function::pow, {in.value(0), in.value(1)});
}

/// A slope for each channel may come without the dimensions after it.
std::size_t import_prelu(onnx_importer& in) {
  const shape& x = in.extents(0);
  std::size_t slope = in.value(1);
  if (in.rank(1) == 1 && x.rank() > 2 && in.extents(1)[0] == x[1]) {
    std::vector<std::int64_t> channels(x.rank() - 1, 1);
    channels[0] = x[1];
    slope = in.add_reshape(slope, shape(std::move(channels)));
  }
  return in.add_pointwise(function::prelu, {in.value(0), slope});
}

std::size_t import_gelu(onnx_importer& in) {
  const std::string approximate = in.text("approximate", "none");
  in.require(approximate == "none" || approximate == "tanh", "an unknown approximation");
  return in.add(
      activation_layer{approximate == "tanh" ? activation::gelu_tanh : activation::gelu_erf},
      {in.value(0)});
}

std::size_t import_cast(onnx_importer& in) {
  const auto to = onnx_type_of(in.integer("to", 0));
  in.require(to == onnx_type::float32 || to == onnx_type::float64 || to == onnx_type::float16,
             "a value that is computed stays float32: a cast to another type is not supported");
  return in.value(0);
}

}  // namespace

onnx_operators onnx_pointwise() {
  constexpr float selu_alpha = 1.67326319217681884765625F;
  constexpr float selu_gamma = 1.05070102214813232421875F;
  return {
      {"Abs", one_operand(function::abs)},
      {"Add", one_output(import_add)},
      {"And", two_operands(function::logical_and)},
      {"Cast", one_output(import_cast)},
      {"Ceil", one_operand(function::ceil)},
      {"Celu", one_output([](onnx_importer& in) {
         // alpha (exp(x / alpha) - 1) below 0
         const float alpha = in.number("alpha", 1.0F);
         const std::size_t scaled =
             in.add_pointwise(function::mul, {in.value(0), in.add_constant({1.0F / alpha}, {})});
         const std::size_t unit = in.add_pointwise(function::elu, {scaled}, 1.0F);
         return in.add_pointwise(function::mul, {unit, in.add_constant({alpha}, {})});
       })},
      {"Clip", one_output(import_clip)},
      {"Cos", one_operand(function::cos)},
      {"Div", two_operands(function::div)},
      {"Elu", one_operand(function::elu, 1.0F)},
      {"Equal", two_operands(function::equal)},
      {"Erf", one_operand(function::erf)},
      {"Exp", one_operand(function::exp)},
      {"Floor", one_operand(function::floor)},
      {"Gelu", one_output(import_gelu)},
      {"Greater", two_operands(function::greater)},
      {"GreaterOrEqual", two_operands(function::greater_equal)},
      {"HardSigmoid", one_operand(function::hard_sigmoid, 0.2F, "beta", 0.5F)},
      {"HardSwish", one_operand(function::hard_swish)},
      {"LeakyRelu", one_operand(function::leaky_relu, 0.01F)},
      {"Less", two_operands(function::less)},
      {"LessOrEqual", two_operands(function::less_equal)},
      {"Log", one_operand(function::log)},
      {"Max", one_output([](onnx_importer& in) { return fold(in, function::max); })},
      {"Mean", one_output(import_mean)},
      {"Min", one_output([](onnx_importer& in) { return fold(in, function::min); })},
      {"Mish", one_operand(function::mish)},
      {"Mod", one_output([](onnx_importer& in) {
         const auto of = in.integer("fmod", 0) != 0 ? function::fmod : function::mod;
         return in.add_pointwise(of, {in.value(0), in.value(1)});
       })},
      {"Mul", two_operands(function::mul)},
      {"Neg", one_operand(function::neg)},
      {"Not", one_operand(function::logical_not)},
      {"Or", two_operands(function::logical_or)},
      {"PRelu", one_output(import_prelu)},
      {"Pow", one_output(import_pow)},
      {"Reciprocal", one_operand(function::reciprocal)},
      {"Relu", activates(activation::relu)},
      {"Round", one_operand(function::round)},
      {"Selu", one_operand(function::selu, selu_alpha, "gamma", selu_gamma)},
      {"Sigmoid", activates(activation::sigmoid)},
      {"Sign", one_operand(function::sign)},
      {"Sin", one_operand(function::sin)},
      {"Softplus", one_operand(function::softplus)},
      {"Softsign", one_operand(function::softsign)},
      {"Sqrt", one_operand(function::sqrt)},
      {"Sub", two_operands(function::sub)},
      {"Sum", one_output([](onnx_importer& in) { return fold(in, function::add); })},
      {"Tanh", one_operand(function::tanh)},
      {"ThresholdedRelu", one_operand(function::thresholded_relu, 1.0F)},
      {"Where", one_output([](onnx_importer& in) {
         return in.add_pointwise(function::where, {in.value(0), in.value(1), in.value(2)});
       })},
      {"Xor", two_operands(function::logical_xor)},
  };
}

}  // namespace graphline
