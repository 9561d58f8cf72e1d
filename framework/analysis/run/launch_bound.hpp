#pragma once

#include <cstddef>
#include <string>

#include "framework/analysis/finding.hpp"

namespace graphline {

/// Of a stage: means in nanoseconds.
struct launch_times {
  double enqueue = 0;
  double device = 0;
  bool busy = false;  ///< `device` is what the device was at work, without what it waited
};

/// Whether the device may have waited for the next launch in the midst of the stage. Where it does
/// not tell how long it was at work, the stage's time may be the host's in disguise.
bool is_launch_bound(const launch_times& times) noexcept;

/// Whether enqueueing takes a larger part of the device time than `other`'s does.
bool is_more_launch_bound(const launch_times& times, const launch_times& other) noexcept;

/// That a stage's device time is bound by its launches; of `stages` such stages, `stage` is the
/// worst.
finding launch_bound_finding(std::string stage, const launch_times& worst, std::size_t stages);

}  // namespace graphline
