#pragma once

#include <string>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// "31.42 frame/s": four significant digits, all of those before the point.
std::string rate_text(double frames_a_second);

/// What a search for the highest rate shows, in sentences. What the data do not carry with 95 % is
/// said to be so.
std::vector<std::string> findings_of(const capacity_summary& summary, const capacity_settings& how);

}  // namespace graphline
