#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/spec/parameter.hpp"
#include "stages/nn/layers/shape_rules.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// A kind of layer in YAML: its parameters and the function that makes an operation from them.
struct layer_kind {
  std::string name;      ///< "conv2d"
  std::string headline;  ///< one line for `graphline stages network`
  std::vector<parameter> parameters;

  /// Makes the operation from parameters that passed the check against `parameters`.
  std::function<layer_operation(const arguments&, layer_problems&)> read;

  /// Replaces `read` for kinds whose operation depends on input shapes.
  std::function<layer_operation(const arguments&, layer_inputs, layer_problems&)> fit = {};
};

/// Returns all kinds, in the order of the manual.
const std::vector<layer_kind>& layer_kinds();

/// Returns the kind's own parameters, then the parameters that all layers share.
std::vector<parameter> parameters_of(const layer_kind& kind);

}  // namespace graphline::nn
