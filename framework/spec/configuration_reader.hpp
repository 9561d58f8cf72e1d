#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// Spells out the grid of `vary:`, the last key varying fastest, without what `exclude:` names.
/// Each configuration is compared with the one that differs from it by the values of `baseline:`
/// only, by default the first of each key. `baseline` and `exclude` may be null.
std::vector<configuration_spec> read_grid(const node& vary, const node* baseline,
                                          const node* exclude, diagnostics& out);

/// The keys of a configuration beside what it sets.
const std::vector<parameter>& configuration_keys();

/// Reads the list of `configurations:`, each a name and what it sets. All are compared with the one
/// that `baseline` names, by default the first; `baseline` may be null.
std::vector<configuration_spec> read_configurations(const node& section, const node* baseline,
                                                    diagnostics& out);

}  // namespace graphline
