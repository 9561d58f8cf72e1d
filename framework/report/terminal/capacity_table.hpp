#pragma once

#include <string>

#include "framework/record/capacity_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// The highest rate at which the percentile held, for a person at a terminal: the rate with
/// its interval, a table of
/// all rates that were tried, from the lowest to the highest, then what was found, in sentences.
/// UTF-8, 80 columns unless names or numbers need more.
std::string capacity_table(const capacity_record& record, const look& as = {});

}  // namespace graphline
