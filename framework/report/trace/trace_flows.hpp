#pragma once

#include <vector>

#include "framework/record/run_record.hpp"
#include "framework/report/trace/trace_slices.hpp"
#include "framework/report/trace/trace_text.hpp"

namespace graphline {

/// Arrows between slices of each frame: from every stage to those that wait for it, named after how
/// they do, and from launches to what they launched. `tracks` are those of the lanes.
void write_flows(trace_text& to, const run_record& record, const trace_slices& slices,
                 const std::vector<trace_track>& tracks);

}  // namespace graphline
