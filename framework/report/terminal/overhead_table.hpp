#pragma once

#include <string>

#include "framework/record/overhead_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// What each timing method reports and costs, for a person at a terminal: one table with a column
/// per method, then what the methods mean and what the figures show. UTF-8, 80 columns unless names
/// or numbers need more.
std::string overhead_table(const overhead_record& record, const look& as = {});

}  // namespace graphline
