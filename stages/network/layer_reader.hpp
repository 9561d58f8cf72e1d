#pragma once

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/stage/stage.hpp"
#include "stages/network/definition.hpp"

namespace graphline {

/// Reads the list of layers and works out every shape. Reports everything wrong to `out`: layers
/// after one that failed are still checked for what does not depend on its shape. `where` is the
/// place for problems of the whole. After an error the result is incomplete.
network_definition define_network(const node& layers, const shape& input, const place& where,
                                  diagnostics& out);

/// The network of a stage's `layers`, which the planner has found to be in order.
network_definition network_of(const stage_config& config);

}  // namespace graphline
