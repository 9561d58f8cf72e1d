#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_call.hpp"

namespace graphline::nn::onnx {

// Shapes and selections of operators that move elements, for constants and for layers alike.

/// Result extents of operators that view their first input in another shape, by operator.
using reshaping = shape (*)(const onnx_call&);
const std::map<std::string_view, reshaping>& reshapings();

/// Selected positions along some axes, all along the others; `outside` selects padding.
using selection = std::map<std::size_t, std::vector<std::int64_t>>;
/// A position of padding: added to valid positions along the other axes it stays negative.
constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min() / 128;

/// Selections, one per output, of the first input, by operator.
using selecting = std::vector<selection> (*)(const onnx_call&);
const std::map<std::string_view, selecting>& selectings();

/// Selection of `Gather` and the extents of its result.
struct gathering {
  selection selected;
  shape extents;
};
gathering gathering_of(const onnx_call& call);

/// `ScatterND` on its first input as `rows` rows of `row` elements: the row that each row of the
/// updates replaces.
struct scattering {
  std::int64_t rows = 1;
  std::int64_t row = 1;
  std::vector<std::int64_t> places;
};
scattering scattering_of(const onnx_call& call);

/// Dimension i of the result of `Transpose` is dimension order[i] of its input.
std::vector<std::size_t> transposed_order(const onnx_call& call);

/// The extents to which `Expand` broadcasts.
shape expanded_extents(const onnx_call& call);

/// Reduced axes, ascending; empty if the operator copies its input.
std::vector<std::size_t> reduced_axes(const onnx_call& call);

/// The extents to which all of these broadcast.
shape common_extents(const onnx_call& call, std::span<const shape> all);

}  // namespace graphline::nn::onnx
