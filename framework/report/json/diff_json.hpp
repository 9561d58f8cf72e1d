#pragma once

#include <string>

#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/analysis/diff/result_diff.hpp"
#include "framework/report/json/json_beginning.hpp"

namespace graphline {

// The result file `graphline.diff/1`: each figure before and after with its change, and what else
// is not the same in both. Keys are only ever added. Starts with `json_beginning`.

std::string diff_json(const experiment_diff& diff);

}  // namespace graphline
