#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// Describes machine and program as name and value: version, build and commit, date (UTC), host
/// name, operating system, processor, clock (or the governor that varies it), cores, CPU affinity
/// and scheduling class of the calling thread, compiler, library versions. Unknown values are
/// omitted.
std::vector<std::pair<std::string, std::string>> describe_environment();

/// Returns the number of CPU stages that can run concurrently, at least 1: the plan's `workers`, or
/// else the usable cores. Leaves out cores that compute for the device if there are device stages.
int cores_for_cpu_stages(const plan& p, const device_properties& on);

}  // namespace graphline
