#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/definition/definition.hpp"

namespace graphline::nn {

/// Names of a network's inputs and outputs.
struct network_names {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// The names listed by `inputs` and `outputs`; by default "input", and "output" for the last
/// layer's result.
network_names network_names_of(const arguments& values, diagnostics& out);

/// Reads `layers` with input tensors of these types, one per name in `inputs`, and infers all
/// shapes. Reports all errors to `out`; layers after a failed one are still checked for what does
/// not depend on its shape. After an error the result is incomplete.
network_definition define_network(const arguments& values, std::span<const tensor_type> inputs,
                                  diagnostics& out);

}  // namespace graphline::nn
