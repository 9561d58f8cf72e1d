#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stages/nn/onnx/onnx_call.hpp"
#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn::onnx {

using onnx_function = std::function<std::vector<onnx_tensor>(const onnx_call&)>;
using onnx_functions = std::map<std::string_view, onnx_function>;

/// A function with one output.
template <class Function>
onnx_function gives_one(Function function) {
  return [function](const onnx_call& call) { return std::vector{function(call)}; };
}

/// Operators that compute, that rearrange elements, and that make them of extents, positions and
/// attributes.
onnx_functions onnx_arithmetic();
onnx_functions onnx_generators();
onnx_functions onnx_rearrangements();

/// A tensor of zeros.
onnx_tensor make(const onnx_call& call, onnx_type element, const shape& extents);

/// The same values with other extents.
onnx_tensor reshaped(const onnx_call& call, const onnx_tensor& from, const shape& extents);

/// For each axis of a result, how far into a tensor each position along it leads. Their sum is the
/// place of an element: strides are the case in which they grow evenly.
using axis_offsets = std::vector<std::vector<std::int64_t>>;

/// Positions 0, 1, ... of each axis at these strides.
axis_offsets even_offsets(const shape& extents, const std::vector<std::int64_t>& strides);

/// Of a tensor that is broadcast to `to`, as numpy does.
axis_offsets broadcast_offsets(const shape& from, const shape& to);

/// The sums of offsets in row-major order, one for each call of `next`.
class offset_walk {
 public:
  explicit offset_walk(axis_offsets offsets)
      : offsets_(std::move(offsets)), position_(offsets_.size()) {}

  std::size_t next() noexcept;

 private:
  axis_offsets offsets_;
  std::vector<std::size_t> position_;
  std::int64_t outer_ = 0;  ///< the sum of all but the last axis
  bool carried_ = false;    ///< whether `outer_` is that of the position
};

/// Fills `result` with the elements of `from` at these offsets; where they are below 0 it stays as
/// it is.
void fill(onnx_tensor& result, const onnx_tensor& from, axis_offsets offsets);
/// Fills it with one element.
void fill_with(onnx_tensor& result, const onnx_tensor& one);

/// A tensor with its values converted.
onnx_tensor cast_onnx(const onnx_call& call, const onnx_tensor& from, onnx_type element);

}  // namespace graphline::nn::onnx
