#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/experiment_plan.hpp"

namespace graphline {

/// Resolves the stages of chains in a configuration that runs all members. Reports unknown stages,
/// and stages of one member that no path connects in this order.
std::vector<chain_record> planned_chains(const std::vector<chain_spec>& chains,
                                         const planned_configuration& in, diagnostics& out);

}  // namespace graphline
