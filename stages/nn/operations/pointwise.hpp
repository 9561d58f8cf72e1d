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

/// A function of the elements at one position, defined by a row of `pointwise_functions.inc`.
enum class pointwise_function {
#define GRAPHLINE_POINTWISE(function, ...) function,
#include "stages/nn/operations/pointwise_functions.inc"
};

/// Properties of a function. Each arithmetic operation, comparison and function in its formula
/// counts as one FLOP per element.
struct pointwise_traits {
  pointwise_function function;
  std::string_view name;  ///< in names of kernels
  int operands;
  int flops;
  std::string_view onnx;  ///< ONNX's operator for the function; "" if none
};
std::span<const pointwise_traits> pointwise_functions();
const pointwise_traits& traits_of(pointwise_function function);

/// Reads one value per operand of its function. Shapes broadcast as in NumPy.
struct pointwise_layer {
  pointwise_function function = pointwise_function::abs;
  float alpha = 0;
  float beta = 0;

  bool operator==(const pointwise_layer&) const = default;
};

/// Returns the shape to which NumPy broadcasts `shapes`; empty if they do not fit together.
std::optional<shape> broadcast(std::span<const shape> shapes);

/// Returns the strides of a packed row-major tensor, in elements.
std::vector<std::int64_t> packed_strides(const shape& s);

/// Returns the strides of a tensor, strided or packed, that is broadcast to `to`.
std::vector<std::int64_t> broadcast_strides(const shape& from, std::vector<std::int64_t> strides,
                                            const shape& to);
std::vector<std::int64_t> broadcast_strides(const shape& from, const shape& to);

/// Pointwise layers evaluated at one position. Registers hold the operands in order, then the
/// result of each step.
struct pointwise_expression {
  struct step {
    pointwise_layer layer;
    std::array<std::uint16_t, 3> from{};  ///< registers

    /// Returns the registers that its function reads.
    std::span<const std::uint16_t> reads() const {
      return std::span(from).first(static_cast<std::size_t>(traits_of(layer.function).operands));
    }
  };
  std::size_t operands = 0;
  std::vector<step> steps;
  std::vector<std::size_t> results;  ///< registers whose values are written, in order
};

/// An iteration space over several tensors: extents, outermost first, and each tensor's strides in
/// elements. A broadcast dimension has stride 0.
struct pointwise_space {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int64_t>> strides;  ///< per tensor
};

/// Merges adjacent extents that are contiguous in all tensors, and drops extents of 1.
pointwise_space collapsed(const pointwise_space& space);

}  // namespace graphline::nn
