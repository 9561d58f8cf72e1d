#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_call.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn::onnx {

// Shapes and selections of operators that move elements. Constant folding and import share them.

/// Extents of the result, by operator, for operators that view their first input in another shape.
using reshaping = shape (*)(const onnx_call&);
const std::map<std::string_view, reshaping>& reshapings();

/// Selected positions by axis; axes without an entry keep all positions. `outside` selects padding.
using selection = std::map<std::size_t, std::vector<std::int64_t>>;
/// Position of padding. Its sum with valid positions along other axes stays negative.
constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min() / 128;

/// Functions, by operator, that return a selection of the first input for each output.
using selecting = std::vector<selection> (*)(const onnx_call&);
const std::map<std::string_view, selecting>& selectings();

/// Selection of `Gather`, and extents of the result.
struct gathering {
  selection selected;
  shape extents;
};
gathering gathering_of(const onnx_call& call);

/// Elements of its first input that `GatherElements`, `GatherND`, `ScatterElements` or `ScatterND`
/// selects with its second input; refuses shapes that do not fit.
indexed_elements indexed_of(const onnx_call& call);

/// Extents of the selected elements: those of a gather's result and of a scatter's updates.
shape indexed_extents(const onnx_call& call);

/// The selected elements for constant indices: the first input is viewed as rows of `row` elements,
/// and `places` contains the number of each selected row.
struct indexed_rows {
  std::int64_t row = 1;
  std::vector<std::int64_t> places;
};
indexed_rows indexed_rows_of(const onnx_call& call);

/// Returns `order`: dimension i of the result of `Transpose` is dimension order[i] of its input.
std::vector<std::size_t> transposed_order(const onnx_call& call);

/// Returns the axis of `Concat`; refuses inputs that differ along other axes.
std::size_t concat_axis(const onnx_call& call);

shape expanded_extents(const onnx_call& call);

/// Returns the reduced axes in ascending order; empty if the operator copies its input.
std::vector<std::size_t> reduced_axes(const onnx_call& call);

/// Returns the extents to which all shapes broadcast; refuses shapes that do not fit together.
shape common_extents(const onnx_call& call, std::span<const shape> all);

}  // namespace graphline::nn::onnx
