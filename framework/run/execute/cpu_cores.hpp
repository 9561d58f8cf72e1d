#pragma once

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// How many CPU stages of a plan can run at once, at least 1: as many as this program has cores,
/// less those that the device computes on where the plan has work for it.
int cores_for_cpu_stages(const plan& p, const device_properties& on);

}  // namespace graphline
