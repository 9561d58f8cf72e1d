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

/// Operators that compute, that generate tensors from extents, positions and attributes, and that
/// rearrange elements.
onnx_functions onnx_arithmetic();
onnx_functions onnx_generators();
onnx_functions onnx_rearrangements();

/// `Einsum` of constants.
onnx_tensor evaluated_einsum(const onnx_call& call);

/// A tensor of zeros.
onnx_tensor make(const onnx_call& call, onnx_type element, const shape& extents);

/// The values with other extents.
onnx_tensor reshaped(const onnx_call& call, const onnx_tensor& from, const shape& extents);

/// Per axis of a result, the source offset of each position; an element's source is the sum over
/// the axes. Strides are the evenly spaced case.
using axis_offsets = std::vector<std::vector<std::int64_t>>;

/// Offsets of strided axes.
axis_offsets even_offsets(const shape& extents, const std::vector<std::int64_t>& strides);

/// Offsets of a tensor broadcast to `to` as in NumPy.
axis_offsets broadcast_offsets(const shape& from, const shape& to);

/// Iterates over the sums of offsets in row-major order.
class offset_walk {
 public:
  explicit offset_walk(axis_offsets offsets)
      : offsets_(std::move(offsets)), position_(offsets_.size()) {}

  std::size_t next() noexcept;

 private:
  axis_offsets offsets_;
  std::vector<std::size_t> position_;
  std::int64_t outer_ = 0;  ///< sum over all axes but the last
  bool carried_ = false;    ///< `outer_` matches the position
};

/// Copies the elements of `from` at these offsets; negative offsets leave `result` unchanged.
void fill(onnx_tensor& result, const onnx_tensor& from, axis_offsets offsets);
/// Fills with one element.
void fill_with(onnx_tensor& result, const onnx_tensor& one);

/// Converts values to another element type.
onnx_tensor cast_onnx(const onnx_call& call, const onnx_tensor& from, onnx_type element);

}  // namespace graphline::nn::onnx
