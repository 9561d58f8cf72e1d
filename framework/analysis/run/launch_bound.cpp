#include "framework/analysis/run/launch_bound.hpp"

#include <utility>

namespace graphline {

bool is_launch_bound(const launch_times& times) noexcept {
  constexpr double least_ratio = 0.8;
  return times.enqueue >= least_ratio * times.device;
}

bool is_more_launch_bound(const launch_times& times, const launch_times& other) noexcept {
  return times.enqueue * other.device > other.enqueue * times.device;
}

finding launch_bound_finding(std::string stage, const launch_times& worst, std::size_t stages) {
  finding made{worst.busy ? "device_waits_for_host" : "device_time_may_hold_waits",
               finding_severity::warning,
               {std::move(stage)}};
  made.with("enqueue", worst.enqueue, unit::duration).with("device", worst.device, unit::duration);
  if (stages > 1) made.with("stages", stages);
  return made;
}

}  // namespace graphline
