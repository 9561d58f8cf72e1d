#pragma once

#include <array>
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

namespace graphline::nn {

/// Returns the operators that `evaluate_onnx` supports, in alphabetical order.
std::vector<std::string_view> evaluated_operators();

/// Returns true if `evaluate_onnx` supports the node's operator.
bool can_evaluate(const onnx_node& node) noexcept;

/// Evaluates a node on constant inputs; returns unnamed outputs with known values. `inputs`
/// contains null for omitted inputs. `Shape` and `Size` need only the extents of their input.
/// `budget` bounds memory and time: the elements and extents of inputs and outputs are subtracted.
/// @throws input_error naming the node if inputs or attributes do not fit the operator, if the
/// budget is exhausted, or if the case is unsupported (strings, for example).
std::vector<onnx_tensor> evaluate_onnx(const onnx_node& node,
                                       std::span<const onnx_tensor* const> inputs,
                                       std::int64_t& budget);

}  // namespace graphline::nn

namespace graphline::nn::onnx {

using onnx_function = std::function<std::vector<onnx_tensor>(const onnx_call&)>;
using onnx_functions = std::map<std::string_view, onnx_function>;

/// Makes an `onnx_function` from a function that returns a single output.
template <class Function>
onnx_function gives_one(Function function) {
  return [function](const onnx_call& call) { return std::vector{function(call)}; };
}

/// Return the functions of operators: arithmetic; generators from extents, positions and
/// attributes; rearrangements of elements.
onnx_functions onnx_arithmetic();
onnx_functions onnx_generators();
onnx_functions onnx_rearrangements();

/// Returns a tensor of zeros.
onnx_tensor make(const onnx_call& call, onnx_type element, const shape& extents);

/// Returns a tensor with the same values and other extents.
onnx_tensor reshaped(const onnx_call& call, const onnx_tensor& from, const shape& extents);

/// Returns a tensor broadcast to these extents as in NumPy.
onnx_tensor broadcast_to(const onnx_call& call, const onnx_tensor& from, const shape& extents);

/// Source offsets of a result's positions, per axis. The source of an element is the sum of its
/// offsets over all axes.
using axis_offsets = std::vector<std::vector<std::int64_t>>;

/// Returns the offsets of a tensor with these strides.
axis_offsets even_offsets(const shape& extents, const std::vector<std::int64_t>& strides);

/// Returns the offsets of a packed tensor broadcast to `to` as in NumPy.
axis_offsets broadcast_offsets(const shape& from, const shape& to);

/// Calls `use` for each element of a result, in row-major order, with the sum of its offsets in
/// each tensor. The offsets of all tensors have the same extents.
template <std::size_t count, class Use>
void walk(const std::array<axis_offsets, count>& tensors, const Use& use,
          std::array<std::size_t, count> at = {}, std::size_t axis = 0) {
  if (axis == tensors[0].size()) return use(at);
  for (std::size_t i = 0; i < tensors[0][axis].size(); ++i) {
    std::array<std::size_t, count> inner = at;
    for (std::size_t k = 0; k < count; ++k)
      inner[k] += static_cast<std::size_t>(tensors[k][axis][i]);
    walk(tensors, use, inner, axis + 1);
  }
}

/// Copies the elements of `from` at these offsets; skips results with negative offsets.
void fill(onnx_tensor& result, const onnx_tensor& from, axis_offsets offsets);
/// Fills `result` with the single element of `one`.
void fill_with(onnx_tensor& result, const onnx_tensor& one);

/// Rounds or wraps values computed in a wider type to the tensor's type.
void narrow(const onnx_call& call, onnx_tensor& tensor);

/// Converts values to another element type.
onnx_tensor cast_onnx(const onnx_call& call, const onnx_tensor& from, onnx_type element);

}  // namespace graphline::nn::onnx
