#pragma once

#include <span>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/definition/definition.hpp"

namespace graphline::nn {

/// Names of `inputs` and `outputs`. Without names, a network has one input, "input", and gives the
/// output of its last layer.
struct network_names {
  std::vector<named> inputs;
  std::vector<named> outputs;
};

network_names read_network_names(const arguments& values, diagnostics& out);

/// Reads `layers` and infers all shapes. `inputs` contains the type of each input tensor. Reports
/// all errors to `out`. After a failed layer, this includes only errors that do not depend on its
/// shape. After an error the result is incomplete.
network_definition define_network(const arguments& values, const network_names& names,
                                  std::span<const tensor_type> inputs, diagnostics& out);

}  // namespace graphline::nn
