#pragma once

#include <string>

#include "framework/plan/cost_summary.hpp"

namespace graphline {

/// The summary as `graphline.inspect/1`, which docs/costs.md explains. What is not known is null.
std::string inspect_json(const cost_summary& summary);

}  // namespace graphline
