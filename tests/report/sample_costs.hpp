#pragma once

#include "framework/plan/cost_summary.hpp"

namespace graphline::samples {

/// A pipeline of every sort of stage: a network with layers, a copy, a CPU stage with two outputs
/// whose arithmetic is not known, and one that states nothing and has a name that needs quoting.
cost_summary sample_costs();

}  // namespace graphline::samples
