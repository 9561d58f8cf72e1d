#pragma once

#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// How much of a pipeline's work ran at once. All in nanoseconds per frame.
struct side_by_side {
  double overlap = 0;  ///< sum of the stages' times minus the time in which any was under way
  double stages = 0;   ///< sum of the stages' times; on `host`, those on the device as one stage
  double longest = 0;  ///< of the stages' times: the others could run beside it, at best
  double frame = 0;    ///< time a frame takes; with several in flight, the frame period
  double doubt = 0;    ///< how far stamps of device and CPU may be off each other
};

/// By the stamps of stages on the device and on the CPU, which stand on one clock: by the median
/// frame where each frame is on its own, by the median run where several are in flight. Nothing
/// where fewer than two stages have stamps, as under timing methods other than `event` and
/// `layers`.
std::optional<side_by_side> side_by_side_of(const std::vector<const run_record*>& runs);

}  // namespace graphline
