#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns names and values that describe the machine and the program: version, build and commit,
/// date (UTC), host name, operating system, processor, clock or its governor, cores, CPU affinity
/// and scheduling class of the calling thread, compiler, library versions. Omits unknown values.
std::vector<std::pair<std::string, std::string>> describe_environment();

/// Returns the number of CPU stages that can run concurrently, at least 1: the plan's `workers` if
/// set, else the usable cores that do not compute for device stages.
/// @param compute_threads of the `host` devices
int cores_for_cpu_stages(const plan& p, int compute_threads);

/// Starts a record: fills in the plan, its settings, the devices and the environment.
run_record begin_record(const plan& p, const std::vector<device_properties>& on);

}  // namespace graphline
