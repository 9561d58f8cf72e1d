#include <algorithm>
#include <limits>
#include <utility>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

using function = pointwise_function;

/// A function of the node's inputs.
onnx_operator computes(const pointwise_traits& of) {
  return one_output([&of](onnx_importer& to, const onnx_call&) {
    std::vector<std::size_t> operands;
    for (std::size_t i = 0; std::cmp_less(i, of.operands); ++i) operands.push_back(to.value(i));
    return to.add_pointwise(of.function, std::move(operands));
  });
}

/// A function of one input with attributes that are alpha and, for some, a second one.
onnx_operator one_operand(function of, float alpha, const char* second = nullptr, float beta = 0) {
  return one_output([=](onnx_importer& to, const onnx_call& node) {
    return to.add_pointwise(of, {to.value(0)}, node.number("alpha", alpha),
                            second != nullptr ? node.number(second, beta) : 0.0F);
  });
}

/// Activations that products take into their epilogue.
onnx_operator activates(activation of) {
  return one_output([of](onnx_importer& to, const onnx_call&) {
    return to.add(activation_layer{of}, {to.value(0)});
  });
}

/// Of two values that no constant and equal shapes make a residual connection of, a product takes
/// it into its epilogue.
std::size_t add_two(onnx_importer& to, std::size_t x, std::size_t y, bool computed) {
  if (computed && to.shape_of(x) == to.shape_of(y)) return to.add(add_layer{}, {x, y});
  return to.add_pointwise(function::add, {x, y});
}

std::size_t import_add(onnx_importer& to, const onnx_call& node) {
  const bool computed = !node.is_constant(0) && !node.is_constant(1);
  return add_two(to, to.value(0), to.value(1), computed);
}

/// Any number of operands, one after the other.
std::size_t fold(onnx_importer& to, const onnx_call& node, function of) {
  std::size_t result = to.value(0);
  for (std::size_t i = 1; i < node.inputs(); ++i) {
    result = to.add_pointwise(of, {result, to.value(i)});
  }
  return result;
}

std::size_t import_mean(onnx_importer& to, const onnx_call& node) {
  const std::size_t sum = fold(to, node, function::add);
  const float share = 1.0F / static_cast<float>(node.inputs());
  return to.add_pointwise(function::mul, {sum, to.add_number(share)});
}

std::size_t import_clip(onnx_importer& to, const onnx_call& node) {
  float high = std::numeric_limits<float>::max();  // by ONNX, where a bound is left out
  float low = -high;
  if (to.opset() < 11) {
    low = node.number("min", low);
    high = node.number("max", high);
  } else {
    if (node.has(1)) low = node.number(1);
    if (node.has(2)) high = node.number(2);
  }
  if (low == 0 && high == 6) return to.add(activation_layer{activation::relu6}, {to.value(0)});
  // As min(max(x, low), high) has it, whose result is `high` where that is below `low`.
  return to.add_pointwise(function::clip, {to.value(0)}, std::min(low, high), high);
}

std::size_t import_pow(onnx_importer& to, const onnx_call& node) {
  if (node.is_constant(1)) {
    const std::vector<float> exponent = node.floats(1);
    const bool keeps_shape = node.extents(1).rank() <= node.extents(0).rank();
    if (exponent.size() == 1 && keeps_shape) {
      const std::size_t x = to.value(0);
      if (exponent[0] == 2) return to.add_pointwise(function::mul, {x, x});
      if (exponent[0] == 0.5F) return to.add_pointwise(function::sqrt, {x});
    }
  }
  return to.add_pointwise(function::pow, {to.value(0), to.value(1)});
}

/// A slope for each channel may come without the dimensions after it; one that fits the last
/// dimension is of that.
std::size_t import_prelu(onnx_importer& to, const onnx_call& node) {
  const shape& x = node.extents(0);
  std::size_t slope = to.value(1);
  const std::int64_t slopes = node.extents(1).elements();
  if (node.extents(1).rank() == 1 && x.rank() > 2 && slopes == x[1] && slopes != x[x.rank() - 1]) {
    std::vector<std::int64_t> channels(x.rank() - 1, 1);
    channels[0] = x[1];
    slope = to.add_reshape(slope, shape(std::move(channels)));
  }
  return to.add_pointwise(function::prelu, {to.value(0), slope});
}

std::size_t import_gelu(onnx_importer& to, const onnx_call& node) {
  const std::string approximate = node.text("approximate", "none");
  node.require(approximate == "none" || approximate == "tanh",
               "has an approximation that is not known");
  return to.add(
      activation_layer{approximate == "tanh" ? activation::gelu_tanh : activation::gelu_erf},
      {to.value(0)});
}

std::size_t import_cast(onnx_importer& to, const onnx_call& node) {
  const auto element = onnx_type_of(node.integer("to", 0));
  const std::size_t value = to.value(0);
  if (element == onnx_type::boolean) {  // what is not 0
    return to.add_pointwise(function::logical_and, {value, value});
  }
  const bool floating = element == onnx_type::float32 || element == onnx_type::float64 ||
                        element == onnx_type::float16;
  if (!floating) {
    node.refuse(
        fmt::format("casts what the model computes to {}; only floating-point types and "
                    "bool are supported",
                    to_string(element)));
  }
  return value;
}

}  // namespace

onnx_operators imported_pointwise() {
  constexpr float selu_alpha = 1.67326319217681884765625F;
  constexpr float selu_gamma = 1.05070102214813232421875F;
  onnx_operators all = {
      {"Add", one_output(import_add)},
      {"Cast", one_output(import_cast)},
      {"Celu", one_output([](onnx_importer& to, const onnx_call& node) {
         // alpha (exp(x / alpha) - 1) below 0
         const float alpha = node.number("alpha", 1.0F);
         const std::size_t scaled =
             to.add_pointwise(function::mul, {to.value(0), to.add_number(1.0F / alpha)});
         const std::size_t unit = to.add_pointwise(function::elu, {scaled}, 1.0F);
         return to.add_pointwise(function::mul, {unit, to.add_number(alpha)});
       })},
      {"Clip", one_output(import_clip)},
      {"Elu", one_operand(function::elu, 1.0F)},
      {"Gelu", one_output(import_gelu)},
      {"HardSigmoid", one_operand(function::hard_sigmoid, 0.2F, "beta", 0.5F)},
      {"LeakyRelu", one_operand(function::leaky_relu, 0.01F)},
      {"Max", one_output([](onnx_importer& to, const onnx_call& node) {
         return fold(to, node, function::max);
       })},
      {"Mean", one_output(import_mean)},
      {"Min", one_output([](onnx_importer& to, const onnx_call& node) {
         return fold(to, node, function::min);
       })},
      {"Mod", one_output([](onnx_importer& to, const onnx_call& node) {
         const auto of = node.integer("fmod", 0) != 0 ? function::fmod : function::mod;
         return to.add_pointwise(of, {to.value(0), to.value(1)});
       })},
      {"PRelu", one_output(import_prelu)},
      {"Pow", one_output(import_pow)},
      {"Relu", activates(activation::relu)},
      {"Selu", one_operand(function::selu, selu_alpha, "gamma", selu_gamma)},
      {"Sigmoid", activates(activation::sigmoid)},
      {"Sum", one_output([](onnx_importer& to, const onnx_call& node) {
         return fold(to, node, function::add);
       })},
      {"ThresholdedRelu", one_operand(function::thresholded_relu, 1.0F)},
  };
  for (const pointwise_traits& of : pointwise_functions()) {
    if (!of.onnx.empty()) all.emplace(of.onnx, computes(of));
  }
  return all;
}

}  // namespace graphline::nn::onnx
