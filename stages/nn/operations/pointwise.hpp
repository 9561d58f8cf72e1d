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

/// A function of the elements at one position. `pointwise_functions.inc` defines each in one row.
enum class pointwise_function {
#define GRAPHLINE_POINTWISE(function, ...) function,
#include "stages/nn/operations/pointwise_functions.inc"
};

/// Its name in names of kernels, its number of operands, and its FLOPs for an element: each
/// arithmetic operation, comparison and function of its formula counts as one.
struct pointwise_traits {
  pointwise_function function;
  std::string_view name;
  int operands;
  int flops;
  std::string_view onnx;  ///< the operator that is this function of its inputs; "" if none is
};
std::span<const pointwise_traits> pointwise_functions();
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
