#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_forms.hpp"
#include "stages/nn/operations/scalar_math.hpp"

namespace graphline::nn::onnx {
namespace {

using function = pointwise_function;
using whole = std::int64_t;
using word = std::uint64_t;  // wraps around

using real_function = double (*)(double, double);

/// Returns a pointwise function of at most two operands that needs no parameters.
constexpr real_function real_of(pointwise_function of) {
  using value = double;
  using mask = bool;
  using math = scalar_math<value>;
  switch (of) {
#define GRAPHLINE_POINTWISE(function, name, operands, flops, onnx, ...) \
  case pointwise_function::function:                                    \
    return [](value x, value y) {                                       \
      constexpr float alpha = 0;                                        \
      constexpr float beta = 0;                                         \
      constexpr value z = 0;                                            \
      value r;                                                          \
      (void)x, (void)y, (void)z, (void)alpha, (void)beta;               \
      __VA_ARGS__;                                                      \
      return r;                                                         \
    };
#include "stages/nn/operations/pointwise_functions.inc"
  }
  return nullptr;
}

// Implementations of an operator for floating-point numbers and for integers; null for undefined
// types. Floating-point results are computed in double and rounded to the element type. Functions
// of one operand ignore the second one.
struct binary_function {
  real_function of_reals;
  whole (*of_integers)(whole, whole) = nullptr;
  bool compares = false;  ///< gives bool
};

template <class Function>
constexpr binary_function alike(Function /*stateless*/) {
  return {[](double a, double b) { return Function()(a, b); },
          [](whole a, whole b) { return Function()(a, b); }};
}

template <class Function>
constexpr binary_function compares(Function /*stateless*/) {
  return {[](double a, double b) { return Function()(a, b) ? 1.0 : 0.0; },
          [](whole a, whole b) { return whole{Function()(a, b)}; }, true};
}

void same_type(const onnx_call& call, const onnx_tensor& a, const onnx_tensor& b) {
  call.require(a.element == b.element, "has inputs of different types");
}

/// Applies a function to two broadcast tensors.
onnx_tensor combined(const onnx_call& call, const onnx_tensor& a, const onnx_tensor& b,
                     const binary_function& apply) {
  same_type(call, a, b);
  const shape extents = common_extents(call, std::vector{a.extents, b.extents});
  onnx_tensor result = make(call, apply.compares ? onnx_type::boolean : a.element, extents);
  const std::array offsets{broadcast_offsets(a.extents, extents),
                           broadcast_offsets(b.extents, extents)};
  std::visit(
      [&]<class Value, class Result>(const std::vector<Value>& left, std::vector<Result>& results) {
        const auto& right = std::get<std::vector<Value>>(b.values);
        auto to = results.begin();
        walk(offsets, [&](const auto& at) {
          const Value x = left[at[0]];
          const Value y = right[at[1]];
          if constexpr (std::is_same_v<Value, whole>) {
            call.require(apply.of_integers != nullptr, "is not defined for integers");
            *to++ = static_cast<Result>(apply.of_integers(x, y));
          } else {
            call.require(apply.of_reals != nullptr, "is not defined for floats");
            *to++ = static_cast<Result>(apply.of_reals(x, y));
          }
        });
      },
      a.values, result.values);
  return result;
}

onnx_function unary(const binary_function& apply) {
  return gives_one([apply](const onnx_call& call) {
    return combined(call, call.input(0), call.input(0), apply);
  });
}

/// Combines any number of inputs from left to right.
onnx_function nary(const binary_function& apply) {
  return gives_one([apply](const onnx_call& call) {
    if (call.inputs() == 1) return reshaped(call, call.input(0), call.input(0).extents);
    onnx_tensor result = combined(call, call.input(0), call.input(1), apply);
    for (std::size_t i = 2; i < call.inputs(); ++i) {
      result = combined(call, result, call.input(i), apply);
    }
    return result;
  });
}

constexpr binary_function sum{
    real_of(function::add), [](whole a, whole b) { return static_cast<whole>(word(a) + word(b)); }};
constexpr binary_function product{
    real_of(function::mul), [](whole a, whole b) { return static_cast<whole>(word(a) * word(b)); }};
constexpr binary_function difference{
    real_of(function::sub), [](whole a, whole b) { return static_cast<whole>(word(a) - word(b)); }};

// As in NumPy, NaN propagates.
constexpr auto larger = alike([](auto a, auto b) { return a != a || a > b ? a : b; });
constexpr auto smaller = alike([](auto a, auto b) { return a != a || a < b ? a : b; });

whole negated(whole a) {
  return static_cast<whole>(word{0} - word(a));
}

/// Returns the quotient, truncated as in C.
whole quotient(whole a, whole b) {
  if (b == 0) throw std::domain_error("divides an integer by zero");
  return b == -1 ? negated(a) : a / b;
}

/// Returns the remainder with the sign of the dividend, as in C.
whole remainder_of(whole a, whole b) {
  return static_cast<whole>(word(a) - word(quotient(a, b)) * word(b));
}

/// Returns the remainder with the sign of the divisor, as in Python.
whole modulo(whole a, whole b) {
  const whole rest = remainder_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

onnx_tensor mod(const onnx_call& call) {
  const bool as_in_c = call.integer("fmod", 0) != 0;
  return combined(call, call.input(0), call.input(1),
                  as_in_c ? binary_function{real_of(function::fmod), remainder_of}
                          : binary_function{nullptr, modulo});
}

/// Computes powers in double; the result has the type of the base.
onnx_tensor power(const onnx_call& call) {
  constexpr binary_function of_reals{real_of(function::pow)};
  const onnx_tensor base = cast_onnx(call, call.input(0), onnx_type::float64);
  const onnx_tensor exponent = cast_onnx(call, call.input(1), onnx_type::float64);
  return cast_onnx(call, combined(call, base, exponent, of_reals), call.input(0).element);
}

onnx_tensor bit_shift(const onnx_call& call) {
  constexpr binary_function left{
      nullptr, [](whole a, whole bits) {
        return bits >= 0 && bits < 64 ? static_cast<whole>(word(a) << bits) : whole{0};
      }};
  constexpr binary_function right{
      nullptr, [](whole a, whole bits) {
        return bits >= 0 && bits < 64 ? static_cast<whole>(word(a) >> bits) : whole{0};
      }};
  const std::string direction = call.text("direction", "");
  call.require(direction == "LEFT" || direction == "RIGHT", "has a direction that is not known");
  return combined(call, call.input(0), call.input(1), direction == "LEFT" ? left : right);
}

/// The bounds are attributes before operator set 11, and inputs since. By default, they are the
/// greatest finite numbers of float32.
onnx_tensor clip(const onnx_call& call) {
  onnx_tensor result = reshaped(call, call.input(0), call.input(0).extents);
  const auto bound = [&](const char* attribute, std::size_t input, const binary_function& pick,
                         float otherwise) {
    if (const auto* value = call.node().attribute<float>(attribute)) {
      const onnx_tensor written{.element = onnx_type::float32, .values = std::vector{*value}};
      result = combined(call, result, cast_onnx(call, written, result.element), pick);
    } else if (call.has(input)) {
      result = combined(call, result, call.input(input), pick);
    } else if (std::holds_alternative<std::vector<float>>(result.values)) {
      const onnx_tensor finite{.element = result.element, .values = std::vector{otherwise}};
      result = combined(call, result, finite, pick);
    }
  };
  constexpr float most = std::numeric_limits<float>::max();
  bound("min", 1, larger, -most);
  bound("max", 2, smaller, most);
  return result;
}

onnx_tensor where(const onnx_call& call) {
  same_type(call, call.input(1), call.input(2));
  const auto given = std::vector{call.extents(0), call.extents(1), call.extents(2)};
  const shape extents = common_extents(call, given);
  const onnx_tensor condition{
      .element = onnx_type::boolean, .extents = given[0], .values = call.integers(0)};
  const onnx_tensor all = broadcast_to(call, condition, extents);
  const auto& holds = std::get<std::vector<whole>>(all.values);
  const onnx_tensor wanted = broadcast_to(call, call.input(1), extents);
  onnx_tensor result = broadcast_to(call, call.input(2), extents);
  std::visit(
      [&]<class Value>(std::vector<Value>& to) {
        const auto& from = std::get<std::vector<Value>>(wanted.values);
        for (std::size_t i = 0; i < to.size(); ++i) {
          if (holds[i] != 0) to[i] = from[i];
        }
      },
      result.values);
  return result;
}

/// Neutral element and step of a reduction; `mean` divides the result by the count.
struct reduction {
  double first_real;
  whole first_integer;
  binary_function next;
  bool mean = false;
};

/// Computes floating-point numbers in double.
onnx_tensor reduced(const onnx_call& call, const reduction& how) {
  const onnx_type element = call.input(0).element;
  const bool whole_numbers = is_whole(element);
  const onnx_tensor from =
      cast_onnx(call, call.input(0), whole_numbers ? onnx_type::int64 : onnx_type::float64);
  const std::vector<std::size_t> axes = reduced_axes(call);
  onnx_tensor result = make(call, from.element, reduced_shape(from.extents, axes, true));
  const auto reduce = [&]<class Value>(Value first, Value (*next)(Value, Value)) {
    auto& to = std::get<std::vector<Value>>(result.values);
    std::ranges::fill(to, first);
    const auto& values = std::get<std::vector<Value>>(from.values);
    auto value = values.begin();
    walk(std::array{broadcast_offsets(result.extents, from.extents)},
         [&](const auto& at) { to[at[0]] = next(to[at[0]], *value++); });
    if (!how.mean || to.empty()) return;
    const auto count = static_cast<Value>(values.size() / to.size());
    call.require(!whole_numbers || count != 0, "is the mean of no integers");
    for (Value& total : to) total /= count;
  };
  if (whole_numbers) {
    reduce(how.first_integer, how.next.of_integers);
  } else {
    reduce(how.first_real, how.next.of_reals);
  }
  result.extents = reduced_shape(from.extents, axes, call.integer("keepdims", 1) != 0);
  return cast_onnx(call, result, element);
}

onnx_function reduces(const reduction& how) {
  return gives_one([how](const onnx_call& call) { return reduced(call, how); });
}

/// Truncates to int64; returns the smallest int64 for NaN and for values out of range.
whole integer_from(double value) noexcept {
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  return fits ? static_cast<whole>(value) : std::numeric_limits<whole>::min();
}

}  // namespace

onnx_tensor cast_onnx(const onnx_call& call, const onnx_tensor& from, onnx_type element) {
  onnx_tensor result = make(call, element, from.extents);
  std::visit(
      [&]<class To, class From>(std::vector<To>& to, const std::vector<From>& values) {
        std::ranges::transform(values, to.begin(), [&](From value) -> To {
          if (element == onnx_type::boolean) return value != 0 ? 1 : 0;
          if constexpr (std::is_same_v<To, whole> && !std::is_same_v<From, whole>) {
            return integer_from(value);
          } else {
            return static_cast<To>(value);
          }
        });
      },
      result.values, from.values);
  return result;
}

onnx_functions onnx_arithmetic() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr whole least = std::numeric_limits<whole>::min();
  constexpr whole most = std::numeric_limits<whole>::max();
  onnx_functions all = {
      {"Abs",
       unary({real_of(function::abs), [](whole a, whole) { return a < 0 ? negated(a) : a; }})},
      {"Add", nary(sum)},
      {"And", nary(compares([](auto a, auto b) { return a != 0 && b != 0; }))},
      {"BitShift", gives_one(bit_shift)},
      {"Cast", gives_one([](const onnx_call& call) {
         return cast_onnx(call, call.input(0), onnx_type_of(call.integer("to", 0)));
       })},
      {"Clip", gives_one(clip)},
      {"Div", nary(binary_function{real_of(function::div), quotient})},
      {"Equal", nary(compares([](auto a, auto b) { return a == b; }))},
      {"Greater", nary(compares([](auto a, auto b) { return a > b; }))},
      {"GreaterOrEqual", nary(compares([](auto a, auto b) { return a >= b; }))},
      {"Less", nary(compares([](auto a, auto b) { return a < b; }))},
      {"LessOrEqual", nary(compares([](auto a, auto b) { return a <= b; }))},
      {"Max", nary(larger)},
      {"Min", nary(smaller)},
      {"Mod", gives_one(mod)},
      {"Mul", nary(product)},
      {"Neg", unary({real_of(function::neg), [](whole a, whole) { return negated(a); }})},
      {"Not", unary({nullptr, [](whole a, whole) { return whole{a == 0}; }})},
      {"Or", nary(compares([](auto a, auto b) { return a != 0 || b != 0; }))},
      {"Pow", gives_one(power)},
      {"ReduceMax", reduces({-infinity, least, larger})},
      {"ReduceMean", reduces({0, 0, sum, true})},
      {"ReduceMin", reduces({infinity, most, smaller})},
      {"ReduceProd", reduces({1, 1, product})},
      {"ReduceSum", reduces({0, 0, sum})},
      {"Relu", unary(alike([](auto a, auto) { return a < 0 ? decltype(a){0} : a; }))},
      {"Sign", unary(alike([](auto a, auto) {
         return a != a ? a : static_cast<decltype(a)>(int{a > 0} - int{a < 0});
       }))},
      {"Sub", nary(difference)},
      {"Sum", nary(sum)},
      {"Where", gives_one(where)},
      {"Xor", nary(compares([](auto a, auto b) { return (a != 0) != (b != 0); }))},
  };
  for (const pointwise_traits& of : pointwise_functions()) {
    if (of.operands == 1 && !of.onnx.empty()) all.emplace(of.onnx, unary({real_of(of.function)}));
  }
  return all;
}

}  // namespace graphline::nn::onnx
