#pragma once

#include <cmath>
#include <limits>

#include "stages/nn/operations/host_device.hpp"

namespace graphline::nn {

// Device code cannot call functions of the standard library, but may use constants.
template <class Integer>
inline constexpr Integer least_integer = std::numeric_limits<Integer>::min();
template <class Integer>
inline constexpr Integer most_integer = std::numeric_limits<Integer>::max();

/// Converts to an integer type. Saturates; NaN gives 0.
template <class Integer>
GRAPHLINE_HOST_DEVICE inline Integer saturated(float x) {
  constexpr Integer least = least_integer<Integer>;
  constexpr Integer most = most_integer<Integer>;
  if (!(x > static_cast<float>(least))) return x == x ? least : Integer{0};
  return x < static_cast<float>(most) ? static_cast<Integer>(x) : most;
}

/// Functions of a float or a double for the bodies of `pointwise_functions.inc`, with the interface
/// of `vector_math`.
template <class value>
struct scalar_math {
  using mask = bool;

  GRAPHLINE_HOST_DEVICE static void select(bool which, value yes, value no, value& to) {
    to = which ? yes : no;
  }
  GRAPHLINE_HOST_DEVICE static void truth(bool holds, value& to) {
    to = holds ? value{1} : value{0};
  }
  /// NaN stays NaN.
  GRAPHLINE_HOST_DEVICE static void between(value x, float low, float high, value& to) {
    to = x < low ? low : x > high ? high : x;
  }
  GRAPHLINE_HOST_DEVICE static void absolute(value x, value& to) { to = std::fabs(x); }
  /// Rounds halves to even.
  GRAPHLINE_HOST_DEVICE static void nearest(value x, value& to) { to = std::rint(x); }
  GRAPHLINE_HOST_DEVICE static void truncate(value x, value& to) { to = std::trunc(x); }
  GRAPHLINE_HOST_DEVICE static void floor(value x, value& to) { to = std::floor(x); }
  GRAPHLINE_HOST_DEVICE static void ceil(value x, value& to) { to = std::ceil(x); }
  GRAPHLINE_HOST_DEVICE static void exp(value x, value& to) { to = std::exp(x); }
  GRAPHLINE_HOST_DEVICE static void exp_minus_one(value x, value& to) { to = std::expm1(x); }
  GRAPHLINE_HOST_DEVICE static void log(value x, value& to) { to = std::log(x); }
  GRAPHLINE_HOST_DEVICE static void softplus(value x, value& to) {
    to = std::fmax(x, value{0}) + std::log1p(std::exp(-std::fabs(x)));
  }
  GRAPHLINE_HOST_DEVICE static void tanh(value x, value& to) { to = std::tanh(x); }
  GRAPHLINE_HOST_DEVICE static void erf(value x, value& to) { to = std::erf(x); }
  GRAPHLINE_HOST_DEVICE static void cos(value x, value& to) { to = std::cos(x); }
  GRAPHLINE_HOST_DEVICE static void sin(value x, value& to) { to = std::sin(x); }
  GRAPHLINE_HOST_DEVICE static void sqrt(value x, value& to) { to = std::sqrt(x); }
  GRAPHLINE_HOST_DEVICE static void pow(value x, value y, value& to) { to = std::pow(x, y); }
  GRAPHLINE_HOST_DEVICE static void fmod(value x, value y, value& to) { to = std::fmod(x, y); }
};

}  // namespace graphline::nn
