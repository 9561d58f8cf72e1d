#pragma once

#include <string>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The result file `graphline.experiment/1`: what was run, every figure and verdict, and every raw
/// sample of every trial. Keys are only ever added. Starts with `json_beginning`.
std::string experiment_json(const experiment_record& record);

}  // namespace graphline
