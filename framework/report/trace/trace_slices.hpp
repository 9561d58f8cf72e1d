#pragma once

#include <cstddef>
#include <vector>

#include "framework/analysis/run/timeline.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A span of a timeline as a trace shows it.
struct trace_slice {
  timeline_span span;  ///< its begin and end as shown: within its track, slices nest
  std::size_t frame = 0;
  nanoseconds measured = 0;  ///< its length as stamped
};

/// All slices of a run.
struct trace_slices {
  std::vector<trace_slice> all;    ///< frame by frame, parts after their stage
  std::vector<std::size_t> first;  ///< by frame: index of its first slice; one more at the end
  std::vector<std::vector<std::size_t>> lanes;  ///< by lane: indices by begin, without parts
};

trace_slices slices_of(const timeline& picture, std::size_t frames);

}  // namespace graphline
