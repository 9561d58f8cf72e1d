#pragma once

#include "framework/analysis/diff/saved_result.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

// A result file of each kind, read back as far as two of a kind are compared. Everything throws an
// `input_error` that names the key.

saved_experiment saved_experiment_of(const json_part& result);  ///< graphline.experiment/1

}  // namespace graphline
