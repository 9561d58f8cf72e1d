#pragma once

#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/finding.hpp"

namespace graphline {

/// What a search for the highest rate shows. What the data do not carry with 95 % is reported as
/// such.
std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how);

}  // namespace graphline
