#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/definition/definition.hpp"

namespace graphline::nn {

/// The names that layers know for what a network reads and gives.
struct network_names {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// Those that `inputs` and `outputs` list, or "input" and what the last layer gives as "output".
network_names network_names_of(const arguments& values, diagnostics& out);

/// Reads `layers`, which read tensors of these types, one for each of `inputs`, and
/// works out every shape. Reports everything wrong to `out`: layers after one that failed are still
/// checked for what does not depend on its shape. After an error the result is incomplete.
network_definition define_network(const arguments& values, std::span<const tensor_type> inputs,
                                  diagnostics& out);

}  // namespace graphline::nn
