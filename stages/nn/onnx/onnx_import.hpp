#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline::nn {

/// A model as a network, with the data of its constants in the order of its values.
struct onnx_network {
  network_definition definition;
  std::vector<named_tensor> constants;
};

/// Operators that can become layers, in alphabetical order; others are supported on constant inputs
/// only.
std::vector<std::string_view> imported_operators();

/// The tensor type for a model input; empty if unsupported.
std::optional<dtype> read_as(onnx_type element);

/// Turns nodes into layers and evaluates those with constant inputs. `inputs` are the types of the
/// model's inputs by name, in the order in which the network reads them; `outputs` names its
/// outputs. Reports unsupported nodes, with name and reason, to `out` at `where`; after an error
/// the result is incomplete.
onnx_network import_onnx(const onnx_model& model,
                         const std::vector<std::pair<std::string, tensor_type>>& inputs,
                         const std::vector<std::string>& outputs, const place& where,
                         diagnostics& out);

}  // namespace graphline::nn
