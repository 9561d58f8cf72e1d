#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

using function = pointwise_function;

/// Makes an operator that applies a function to the node's inputs.
onnx_operator computes(const pointwise_traits& of) {
  return one_output([&of](onnx_importer& to, const onnx_call&) {
    std::vector<std::size_t> operands;
    for (std::size_t i = 0; std::cmp_less(i, of.operands); ++i) operands.push_back(to.value(i));
    return to.add_pointwise(of.function, std::move(operands));
  });
}

/// Makes an operator for a unary function of x with the attributes alpha and, if set, `second`.
onnx_operator one_operand(function of, float alpha, const char* second = nullptr, float beta = 0) {
  return one_output([=](onnx_importer& to, const onnx_call& node) {
    return to.add_pointwise(of, {to.value(0)}, node.number("alpha", alpha),
                            second != nullptr ? node.number(second, beta) : 0.0F);
  });
}

/// Combines any number of operands from left to right. A bound that is one number becomes a
/// parameter, because libraries fuse `clip` and not `max`.
std::size_t fold(function of, onnx_importer& to, const onnx_call& node) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::size_t result = to.value(0);
  for (std::size_t i = 1; i < node.inputs(); ++i) {
    const shape extents = to.shape_of(result);
    const bool is_number = of != function::add && node.is_constant(i) &&
                           node.extents(i).elements() == 1 &&
                           node.extents(i).rank() <= extents.rank();
    const float bound = is_number ? node.number(i) : std::nanf("");
    if (std::isnan(bound)) {
      result = to.add_pointwise(of, {result, to.value(i)});
      continue;
    }
    result = to.add_pointwise(function::clip, {result}, of == function::max ? bound : -infinity,
                              of == function::max ? infinity : bound);
    to.set_flops(result, extents.elements());
  }
  return result;
}

std::size_t import_mean(onnx_importer& to, const onnx_call& node) {
  const std::size_t sum = fold(function::add, to, node);
  const float share = 1.0F / static_cast<float>(node.inputs());
  return to.add_pointwise(function::mul, {sum, to.add_number(share)});
}

/// The bounds are attributes before operator set 11, and inputs since.
std::size_t import_clip(onnx_importer& to, const onnx_call& node) {
  constexpr float most = std::numeric_limits<float>::max();  // ONNX's default
  const auto is_computed = [&](std::size_t input) {
    return node.has(input) && !node.is_constant(input);
  };
  if (is_computed(1) || is_computed(2)) {
    const std::size_t low = node.has(1) ? to.value(1) : to.add_number(-most);
    const std::size_t x = to.add_pointwise(function::max, {to.value(0), low});
    const std::size_t high = node.has(2) ? to.value(2) : to.add_number(most);
    return to.add_pointwise(function::min, {x, high});
  }
  const float low = node.has(1) ? node.number(1) : node.number("min", -most);
  const float high = node.has(2) ? node.number(2) : node.number("max", most);
  // If `high` is below `low`, ONNX's min(max(x, low), high) gives `high`.
  return to.add_pointwise(function::clip, {to.value(0)}, std::min(low, high), high);
}

/// Multiplies x to a power from 1 to 8.
std::size_t add_power(onnx_importer& to, std::size_t x, int exponent) {
  if (exponent == 1) return x;
  const std::size_t half = add_power(to, x, exponent / 2);
  const std::size_t even = to.add_pointwise(function::mul, {half, half});
  return exponent % 2 == 0 ? even : to.add_pointwise(function::mul, {even, x});
}

std::size_t import_div(onnx_importer& to, const onnx_call& node) {
  const bool whole = is_whole(node.type(0).element);
  return to.add_pointwise(whole ? function::quotient : function::div, {to.value(0), to.value(1)});
}

std::size_t import_pow(onnx_importer& to, const onnx_call& node) {
  if (node.is_constant(1)) {
    const std::vector<float> exponent = node.floats(1);
    const bool keeps_shape = node.extents(1).rank() <= node.extents(0).rank();
    if (exponent.size() == 1 && keeps_shape) {
      const std::size_t x = to.value(0);
      const int whole = exponent[0] >= 1 && exponent[0] <= 8 ? static_cast<int>(exponent[0]) : 0;
      if (whole > 0 && exponent[0] == static_cast<float>(whole)) return add_power(to, x, whole);
      const bool roots = !is_whole(node.type(0).element);
      if (exponent[0] == -1 && roots) return to.add_pointwise(function::reciprocal, {x});
      if (exponent[0] == 0.5F && roots) return to.add_pointwise(function::sqrt, {x});
      if (exponent[0] == -0.5F && roots) {
        return to.add_pointwise(function::reciprocal, {to.add_pointwise(function::sqrt, {x})});
      }
    }
  }
  const std::size_t power = to.add_pointwise(function::pow, {to.value(0), to.value(1)});
  if (!is_whole(node.type(0).element)) return power;
  // The power of integers is exact up to a few ulp; a negative exponent gives fractions.
  const bool exact = is_whole(node.type(1).element);
  return to.add_pointwise(exact ? function::round : function::truncate, {power});
}

/// Applies a slope of rank 1 per channel if it fits the channels but not the last dimension;
/// otherwise broadcasts it as in NumPy.
std::size_t import_prelu(onnx_importer& to, const onnx_call& node) {
  const shape& x = node.extents(0);
  std::size_t slope = to.value(1);
  const std::int64_t slopes = node.extents(1).elements();
  if (node.extents(1).rank() == 1 && x.rank() > 2 && slopes == x[1] && slopes != x[x.rank() - 1]) {
    slope = to.add_reshape(slope, first_of(x[1], x.rank() - 1));
  }
  return to.add_pointwise(function::prelu, {to.value(0), slope});
}

std::size_t import_gelu(onnx_importer& to, const onnx_call& node) {
  const std::string approximate = node.text("approximate", "none");
  node.require(approximate == "none" || approximate == "tanh",
               "has an approximation that is not known");
  return to.add_pointwise(approximate == "tanh" ? function::gelu_tanh : function::gelu_erf,
                          {to.value(0)});
}

/// Casts to narrow integers wrap, as in ONNX Runtime.
std::size_t import_cast(onnx_importer& to, const onnx_call& node) {
  const onnx_type from = node.type(0).element;
  const onnx_type element = onnx_type_of(node.integer("to", 0));
  if (size_of(element) == 0) {
    node.refuse(fmt::format("casts to {}, which is not supported", to_string(element)));
  }
  const std::size_t value = to.value(0);
  if (element == onnx_type::boolean && from != element) {  // every number but 0 is true
    return to.add_pointwise(function::logical_and, {value, value});
  }
  if (!is_whole(element)) return value;
  if (is_whole(from)) return to.add_wrap(value, range_of(from), element);
  const std::size_t whole = to.add_pointwise(function::truncate, {value});
  return to.add_wrap(whole, range_of(onnx_type::int32), element);
}

std::size_t import_is_infinite(onnx_importer& to, const onnx_call& node) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  const bool above = node.integer("detect_positive", 1) != 0;
  const bool below = node.integer("detect_negative", 1) != 0;
  return to.add_pointwise(function::is_beyond, {to.value(0)}, above ? most : infinity,
                          below ? -most : -infinity);
}

}  // namespace

onnx_operators imported_pointwise() {
  constexpr float selu_alpha = 1.67326319217681884765625F;
  constexpr float selu_gamma = 1.05070102214813232421875F;
  onnx_operators all = {
      {"Cast", one_output(import_cast)},
      {"Celu", one_output([](onnx_importer& to, const onnx_call& node) {
         // for x < 0: alpha (exp(x / alpha) - 1)
         const float alpha = node.number("alpha", 1.0F);
         const std::size_t scaled =
             to.add_pointwise(function::mul, {to.value(0), to.add_number(1.0F / alpha)});
         const std::size_t unit = to.add_pointwise(function::elu, {scaled}, 1.0F);
         return to.add_pointwise(function::mul, {unit, to.add_number(alpha)});
       })},
      {"Clip", one_output(import_clip)},
      {"Div", one_output(import_div)},
      {"Elu", one_operand(function::elu, 1.0F)},
      {"Gelu", one_output(import_gelu)},
      {"HardSigmoid", one_operand(function::hard_sigmoid, 0.2F, "beta", 0.5F)},
      {"IsInf", one_output(import_is_infinite)},
      {"IsNaN", one_output([](onnx_importer& to, const onnx_call&) {
         return to.add_pointwise(function::is_nan, {to.value(0)});
       })},
      {"LeakyRelu", one_operand(function::leaky_relu, 0.01F)},
      {"Max", one_output(std::bind_front(fold, function::max))},
      {"Mean", one_output(import_mean)},
      {"Min", one_output(std::bind_front(fold, function::min))},
      {"Mod", one_output([](onnx_importer& to, const onnx_call& node) {
         const auto of = node.integer("fmod", 0) != 0 ? function::fmod : function::mod;
         return to.add_pointwise(of, {to.value(0), to.value(1)});
       })},
      {"PRelu", one_output(import_prelu)},
      {"Pow", one_output(import_pow)},
      {"Selu", one_operand(function::selu, selu_alpha, "gamma", selu_gamma)},
      {"Sum", one_output(std::bind_front(fold, function::add))},
      {"ThresholdedRelu", one_operand(function::thresholded_relu, 1.0F)},
  };
  for (const pointwise_traits& of : pointwise_functions()) {
    if (!of.onnx.empty()) all.emplace(of.onnx, computes(of));
  }
  return all;
}

}  // namespace graphline::nn::onnx
