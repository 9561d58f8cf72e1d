#pragma once

#include <string>

#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/analysis/diff/result_diff.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

// Two results side by side for a person at a terminal: the change first, then every figure, then
// what else is not the same in both. UTF-8, 80 columns unless names or numbers need more, no
// control characters whatever the files hold.

std::string diff_table(const experiment_diff& diff, const look& as = {});

}  // namespace graphline
