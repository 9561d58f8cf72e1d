#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"

namespace graphline::nn {

/// What is computed of the elements at one position. Comparisons and `not` give 1 or 0, and take
/// what is not 0 for true.
enum class pointwise_function {
  // of one
  abs,
  ceil,
  clip,  ///< from alpha to beta
  cos,
  elu,  ///< with alpha
  erf,
  exp,
  floor,
  gelu_erf,
  gelu_tanh,
  hard_sigmoid,  ///< alpha x + beta between 0 and 1
  hard_swish,    ///< x times hard_sigmoid with 1/6 and 1/2
  leaky_relu,    ///< with alpha
  linear,        ///< alpha x + beta
  log,
  logical_not,
  mish,
  neg,
  reciprocal,
  round,  ///< halves to even
  selu,   ///< with alpha and beta, which ONNX calls gamma
  sigmoid,
  sign,
  silu,
  sin,
  softplus,
  softsign,
  sqrt,
  tanh,
  thresholded_relu,  ///< with alpha
  // of two
  add,
  sub,
  mul,
  div,
  pow,
  max,
  min,
  fmod,  ///< with the sign of x, as in C
  mod,   ///< with the sign of y, as in Python
  prelu,
  equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  logical_xor,
  // of three
  where,
};

/// How it is called in names of kernels, how many operands it has, and its FLOPs for an element:
/// each arithmetic operation, comparison and function of its formula counts as one.
struct pointwise_traits {
  pointwise_function function;
  std::string_view name;
  int operands;
  int flops;
};
const pointwise_traits& traits_of(pointwise_function function);

/// Reads as many values as its function has operands; their shapes are broadcast as in NumPy.
struct pointwise_layer {
  pointwise_function function = pointwise_function::abs;
  float alpha = 0;
  float beta = 0;

  bool operator==(const pointwise_layer&) const = default;
};

/// The shape that NumPy broadcasts these to; nothing where they do not fit.
std::optional<shape> broadcast(std::span<const shape> shapes);

/// The distance between neighbors along each dimension of a packed tensor, in elements.
std::vector<std::int64_t> packed_strides(const shape& s);

/// The same along each dimension of `to`, to which a tensor of those strides, or a packed one, is
/// broadcast.
std::vector<std::int64_t> broadcast_strides(const shape& from, std::vector<std::int64_t> strides,
                                            const shape& to);
std::vector<std::int64_t> broadcast_strides(const shape& from, const shape& to);

/// Layers one after the other on one position. A register holds an operand, in their order, or what
/// a step gives, in theirs.
struct pointwise_expression {
  struct step {
    pointwise_layer layer;
    std::array<std::uint16_t, 3> from{};  ///< registers

    /// Those of them that its function has operands for.
    std::span<const std::uint16_t> reads() const {
      return std::span(from).first(static_cast<std::size_t>(traits_of(layer.function).operands));
    }
  };
  std::size_t operands = 0;
  std::vector<step> steps;
  std::vector<std::size_t> results;  ///< registers whose values are written, in order
};

/// Where the elements of tensors of several shapes lie, as one goes over the largest: extents from
/// the outermost in, and for each tensor how far one step along each moves, in elements (0 where it
/// is broadcast).
struct pointwise_space {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int64_t>> strides;  ///< of each tensor
};

/// Joins neighboring extents along which all tensors advance evenly, and drops those of 1.
pointwise_space collapsed(const pointwise_space& space);

}  // namespace graphline::nn
