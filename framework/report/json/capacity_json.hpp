#pragma once

#include <string>

#include "framework/record/capacity_record.hpp"
#include "framework/report/json/json_beginning.hpp"

namespace graphline {

/// The result file `graphline.capacity/1`: the highest rate that held, every rate that was tried
/// with its verdict, and the end-to-end samples of every run. Starts with `json_beginning`.
std::string capacity_json(const capacity_record& record);

}  // namespace graphline
