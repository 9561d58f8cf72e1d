#include "framework/analysis/launch_bound.hpp"

#include <fmt/format.h>

#include "framework/base/units.hpp"

namespace graphline {

bool is_launch_bound(double enqueue, double device) noexcept {
  constexpr double least_ratio = 0.8;
  return enqueue >= least_ratio * device;
}

std::string launch_bound_text(std::string_view subject, double enqueue, double device) {
  return fmt::format(
      "{}: enqueueing takes {}, its device time is {}; the device may have waited for the host, so "
      "the device time says little about the stage",
      subject, format_duration(enqueue), format_duration(device));
}

}  // namespace graphline
