#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

/// What to say of so many such stages; `subject` names the worst, such as "stage 'head'".
std::string launch_bound_text(std::string_view subject, const launch_times& worst,
                              std::size_t stages);

/// The same as a warning: of `stages` such stages, `stage` is the worst.
finding launch_bound_finding(std::string stage, const launch_times& worst, std::size_t stages);

}  // namespace graphline
