#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// What a reader of a result must know of the machine and the program, as name and value: version,
/// build and commit, date (UTC), host name, operating system, processor with its clock where that
/// is fixed and its governor where it is not, cores, the CPUs of the calling thread's affinity and
/// its scheduling class, compiler, library versions. What is not known is left out.
std::vector<std::pair<std::string, std::string>> describe_environment();

/// How many CPU stages of a plan can run at once, at least 1: its `workers`, or as many as this
/// program has cores, less those that the device computes on where the plan has work for it.
int cores_for_cpu_stages(const plan& p, const device_properties& on);

}  // namespace graphline
