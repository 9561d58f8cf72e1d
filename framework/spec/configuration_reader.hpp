#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// Expands the grid of `vary:` without the combinations in `exclude:`. The last key varies fastest.
/// The reference of a configuration has the same values except for the keys of `baseline:`, by
/// default the first value of each key. `baseline` and `exclude` may be null.
std::vector<configuration_spec> read_grid(const node& vary, const node* baseline,
                                          const node* exclude, diagnostics& out);

/// Returns the keys of a configuration other than settings and parameters.
const std::vector<parameter>& configuration_keys();

/// Reads the list of `configurations:`. Each is compared with the configuration that `baseline`
/// names, by default the first. `baseline` may be null.
std::vector<configuration_spec> read_configurations(const node& section, const node* baseline,
                                                    diagnostics& out);

}  // namespace graphline
