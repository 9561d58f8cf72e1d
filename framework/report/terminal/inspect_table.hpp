#pragma once

#include <string>

#include "framework/plan/cost_summary.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// What `graphline inspect` prints: a row for each stage with its layers indented below it, the sum
/// of all, and what the sum leaves out. Three significant digits with decimal prefixes.
std::string inspect_table(const cost_summary& summary, const look& as = {});

}  // namespace graphline
