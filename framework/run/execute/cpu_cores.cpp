#include "framework/run/execute/cpu_cores.hpp"

#include <algorithm>

#include "framework/base/machine.hpp"

namespace graphline {

int cores_for_cpu_stages(const plan& p, const device_properties& on) {
  const bool device_stages = std::ranges::any_of(
      p.stages, [](const planned_stage& stage) { return stage.on == side::device; });
  return std::max(1, usable_cores() - (device_stages ? on.compute_threads : 0));
}

}  // namespace graphline
