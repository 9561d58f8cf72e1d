#pragma once

#include <string>

#include "framework/record/roofline_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// What `graphline roofline` shows: each stage and its parts against their least time, the roofs of
/// the device and where they meet, the plot, and what to look at first. Of a record without a
/// calibration that has both roofs it says that nothing can be held against it.
std::string roofline_table(const roofline_record& record, const look& as = {});

}  // namespace graphline
