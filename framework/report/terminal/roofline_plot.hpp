#pragma once

#include <string>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// A diagram after Williams, Waterman and Patterson (*Roofline*, CACM 52(4), 2009): FLOPs a second
/// that were achieved over FLOPs for each byte, both logarithmic, under the roofs of the device, as
/// wide as the look up to 100 columns. Stages are capital letters; their parts, where there are
/// several and `layers` has timed them, small ones. Below it stands what each letter is, and what
/// is not in it because it has no FLOPs or no time. Empty where nothing could be drawn.
std::string roofline_plot(const run_record& record, const roofline_summary& summary,
                          const look& as);

}  // namespace graphline
