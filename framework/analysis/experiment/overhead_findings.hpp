#pragma once

#include <string>
#include <vector>

#include "framework/analysis/experiment/overhead.hpp"

namespace graphline {

/// What the comparison of timing methods shows, in sentences. A sentence is there only if the data
/// carry it: a cost is called one when its 95 % interval lies above zero, an overlap is said to be
/// lost when the stage times under `sync` add up to more than the untimed path takes.
std::vector<std::string> findings_of(const overhead_summary& summary);

}  // namespace graphline
