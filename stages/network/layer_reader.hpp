#pragma once

#include <span>

#include "framework/base/diagnostic.hpp"
#include "framework/stage/stage.hpp"
#include "stages/network/definition.hpp"

namespace graphline {

/// The tensors of a stage by the names that its layers know: those that `inputs` and `outputs`
/// list, or "input" and what the last layer gives as "output".
stage_ports network_ports(const arguments& values, diagnostics& out);

/// Reads a stage's `layers`, which read tensors of these types, one for each of its inputs, and
/// works out every shape. Reports everything wrong to `out`: layers after one that failed are still
/// checked for what does not depend on its shape. After an error the result is incomplete.
network_definition define_network(const arguments& values, std::span<const tensor_type> inputs,
                                  diagnostics& out);

/// The network of a stage's `layers`, which the planner has found to be in order.
network_definition network_of(const stage_config& config);

}  // namespace graphline
