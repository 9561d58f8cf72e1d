#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_call.hpp"

namespace graphline::nn::onnx {

// What operators that move elements ask for, whether constants are moved or a layer is to do it.

/// The extents in which an operator shows its first input's elements, by the operator's name.
using reshaping = shape (*)(const onnx_call&);
const std::map<std::string_view, reshaping>& reshapings();

/// The positions along some axes that are selected, all of the others; `outside` for what padding
/// gives.
using selection = std::map<std::size_t, std::vector<std::int64_t>>;
/// A position of no element: with those of as many other axes as there may be it stays below 0.
constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min() / 128;

/// What each output of an operator selects of its first input, by the operator's name.
using selecting = std::vector<selection> (*)(const onnx_call&);
const std::map<std::string_view, selecting>& selectings();

/// What `Gather` selects, and the extents of what it gives.
struct gathering {
  selection selected;
  shape extents;
};
gathering gathering_of(const onnx_call& call);

/// What `ScatterND` replaces of its first input, which is so many rows of so many elements: the row
/// that each row of the updates goes to, in order.
struct scattering {
  std::int64_t rows = 1;
  std::int64_t row = 1;
  std::vector<std::int64_t> places;
};
scattering scattering_of(const onnx_call& call);

/// Dimension i of what `Transpose` gives is dimension order[i] of its input.
std::vector<std::size_t> transposed_order(const onnx_call& call);

/// The extents to which `Expand` broadcasts its input.
shape expanded_extents(const onnx_call& call);

/// The axes that an operator reduces, ascending; none where it leaves its input as it is.
std::vector<std::size_t> reduced_axes(const onnx_call& call);

/// The extents that all of these broadcast to.
shape common_extents(const onnx_call& call, std::span<const shape> all);

}  // namespace graphline::nn::onnx
