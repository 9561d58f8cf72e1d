#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Configurations of an experiment, at most.
inline constexpr std::size_t most_configurations = 10'000;

/// Spells out the grid of `vary:`, the last key varying fastest, without what `exclude:` names.
/// Each configuration is compared with the one that differs from it by the values of `baseline:`
/// only, by default the first of each key. `baseline` and `exclude` may be null.
std::vector<configuration_spec> read_grid(const node& vary, const node* baseline,
                                          const node* exclude, diagnostics& out);

}  // namespace graphline
