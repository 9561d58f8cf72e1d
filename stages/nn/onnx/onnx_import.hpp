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

/// The operators of ONNX that can be layers of a network, in alphabetical order; others are
/// supported where their inputs are constants.
std::vector<std::string_view> imported_operators();

/// The type of a tensor for a model's input of that type; nothing where it is not supported.
std::optional<dtype> read_as(onnx_type element);

/// Makes layers of a model's nodes, and evaluates those whose inputs are constants. `inputs` are
/// the types of the model's inputs by name, in the order in which the network reads them;
/// `outputs` the names of what it gives. Reports to `out`, at `where`, nodes that are not
/// supported, with their names and the reason; after an error the result is incomplete.
onnx_network import_onnx(const onnx_model& model,
                         const std::vector<std::pair<std::string, tensor_type>>& inputs,
                         const std::vector<std::string>& outputs, const place& where,
                         diagnostics& out);

}  // namespace graphline::nn
