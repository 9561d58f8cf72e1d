#pragma once

#include "framework/device/device.hpp"

namespace graphline {

/// The compute threads of `host` when nobody says: half the cores, at least one, so that the other
/// half is left to the CPU stages.
int default_compute_threads();

/// This machine as a device with that many compute threads.
device_properties host_properties(int compute_threads);

}  // namespace graphline
