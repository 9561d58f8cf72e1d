#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "framework/spec/parameter.hpp"
#include "stages/nn/layers/shape_rules.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// A kind of layer in YAML, as data: its parameters and how they become an operation.
struct layer_kind {
  std::string name;      ///< "conv2d"
  std::string headline;  ///< one line for `graphline stages network`
  std::vector<parameter> parameters;

  /// Makes the operation from parameters that passed the check against `parameters`.
  std::function<layer_operation(const arguments&, layer_problems&)> read;

  /// The same if it depends on input shapes; `read` is unset then.
  std::function<layer_operation(const arguments&, std::span<const layer_input>, layer_problems&)>
      fit = {};
};

/// All kinds, in the order of the manual.
const std::vector<layer_kind>& layer_kinds();

/// The kind's own parameters, then those of every layer.
std::vector<parameter> parameters_of(const layer_kind& kind);

}  // namespace graphline::nn
