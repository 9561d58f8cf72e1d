#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Reads the list of `configurations:`, each a name and what it sets. All are compared with the one
/// that `baseline` names, by default the first; `baseline` may be null.
std::vector<configuration_spec> read_configurations(const node& section, const node* baseline,
                                                    diagnostics& out);

}  // namespace graphline
