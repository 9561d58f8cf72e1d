#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// Expands the grid of `vary:` and omits the combinations in `exclude:`. The last key varies
/// fastest. The reference of a configuration takes the keys of `baseline:` from there (by default
/// the first value of each key) and all other keys from the configuration. `baseline` and `exclude`
/// may be null.
std::vector<configuration_spec> read_grid(const node& vary, const node* baseline,
                                          const node* exclude, diagnostics& out);

/// Returns the keys of a configuration that are neither settings nor parameters.
const std::vector<parameter>& configuration_keys();

/// Reads the list of `configurations:`. The reference of each is the configuration that `baseline`
/// names, by default the first. `baseline` may be null.
std::vector<configuration_spec> read_configurations(const node& section, const node* baseline,
                                                    diagnostics& out);

}  // namespace graphline
