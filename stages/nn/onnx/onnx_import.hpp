#pragma once

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline::nn {

/// A model as a network. `constants` are in the order of the network's values.
struct onnx_network {
  network_definition definition;
  std::vector<named_tensor> constants;
  std::map<std::size_t, std::string> other_counts = {};  ///< see `prepared_stage::other_counts`
};

/// Returns the operators that can become layers, in alphabetical order. Other operators need
/// constant inputs.
std::vector<std::string_view> imported_operators();

/// Returns the outputs of a model whose number of rows is known only when it runs, so that an
/// extent is a capacity: those that depend on a `NonMaxSuppression` or `NonZero` of computed
/// values.
std::vector<std::string> counted_outputs(const onnx_graph& graph);

/// Turns nodes into layers and evaluates nodes with constant inputs. `inputs` contains the names
/// and types of the model's inputs in the order in which the network reads them; `outputs` names
/// the model's outputs; the number of rows of each counted one, int64 [1], follows them. Skips
/// nodes that no output depends on. Reports unsupported nodes to `out` at `where`. After an error
/// the result is incomplete.
onnx_network import_onnx(const onnx_model& model,
                         const std::vector<std::pair<std::string, tensor_type>>& inputs,
                         const std::vector<std::string>& outputs, const place& where,
                         diagnostics& out);

}  // namespace graphline::nn
