#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline::nn {

/// Operators that `evaluate_onnx` supports, in alphabetical order.
std::vector<std::string_view> evaluated_operators();

/// Whether it supports the node's operator.
bool can_evaluate(const onnx_node& node) noexcept;

/// Evaluates a node on constant inputs; outputs are unnamed, with known values. Omitted inputs are
/// null. `Shape` and `Size` need only extents, not values.
///
/// `budget` bounds memory and time: elements and extents read and given are subtracted.
///
/// @throws input_error naming the node: inputs or attributes do not fit the operator, the budget is
/// exhausted, or the case is unsupported, such as strings.
std::vector<onnx_tensor> evaluate_onnx(const onnx_node& node,
                                       std::span<const onnx_tensor* const> inputs,
                                       std::int64_t& budget);

}  // namespace graphline::nn
