#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline::nn {

/// The operators that `evaluate_onnx` knows, in alphabetical order.
std::vector<std::string_view> evaluated_operators();

/// Whether the node's operator is one of them.
bool can_evaluate(const onnx_node& node) noexcept;

/// The outputs of a node whose inputs are constants, unnamed and with known values. An input that
/// is left out is null. Operators `Shape` and `Size` look only at an input's extents: its values
/// need not be known.
///
/// `budget` bounds memory and time: elements and extents that are read and given are taken off it.
///
/// Throws `input_error` naming the node: the inputs or attributes do not fit the operator, the
/// budget is used up, or it is a case that is not supported, such as strings.
std::vector<onnx_tensor> evaluate_onnx(const onnx_node& node,
                                       std::span<const onnx_tensor* const> inputs,
                                       std::int64_t& budget);

}  // namespace graphline::nn
