#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_model.hpp"

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
