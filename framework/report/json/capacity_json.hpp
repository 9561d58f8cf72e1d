#pragma once

#include <string>

#include "framework/record/capacity_record.hpp"
#include "framework/report/json/json_beginning.hpp"

namespace graphline {

/// The result file `graphline.capacity/1`: the capacity with its interval, every rate that was
/// tried, and the end-to-end samples of every run. Starts with `json_beginning`.
std::string capacity_json(const capacity_record& record);

}  // namespace graphline
