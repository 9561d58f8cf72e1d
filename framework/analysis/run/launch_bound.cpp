#include "framework/analysis/run/launch_bound.hpp"

#include <fmt/format.h>

#include <utility>

#include "framework/base/units.hpp"

namespace graphline {

bool is_launch_bound(const launch_times& times) noexcept {
  constexpr double least_ratio = 0.8;
  return times.enqueue >= least_ratio * times.device;
}

bool is_more_launch_bound(const launch_times& times, const launch_times& other) noexcept {
  return times.enqueue * other.device > other.enqueue * times.device;
}

std::string launch_bound_text(std::string_view subject, const launch_times& worst,
                              std::size_t stages) {
  const bool one = stages == 1;
  if (worst.busy) {
    return fmt::format(
        "{}: enqueueing takes {}, and the device works on it for {}{}: the device "
        "waits for the host",
        subject, format_duration(worst.enqueue), format_duration(worst.device),
        one ? "" : fmt::format(", the worst of {} stages", stages));
  }
  return fmt::format(
      "{}: enqueueing takes {}, its device time is {}{}; the device may have waited for the host, "
      "so {}",
      subject, format_duration(worst.enqueue), format_duration(worst.device),
      one ? "" : fmt::format(", the worst of {} stages", stages),
      one ? "the device time says little about the stage"
          : "the device times say little about these stages");
}

finding launch_bound_finding(std::string stage, const launch_times& worst, std::size_t stages) {
  finding made{worst.busy ? "device_waits_for_host" : "device_time_may_hold_waits",
               finding_severity::warning,
               {std::move(stage)},
               {}};
  made.with("enqueue", worst.enqueue, unit::duration).with("device", worst.device, unit::duration);
  if (stages > 1) made.with("stages", quantity{static_cast<double>(stages), unit::none});
  return made;
}

}  // namespace graphline
