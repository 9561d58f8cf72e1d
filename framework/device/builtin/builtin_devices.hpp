#pragma once

#include "framework/device/devices.hpp"

namespace graphline {

/// Every backend in this build: `cuda` where it was built with the CUDA toolkit, and `host`.
const device_list& builtin_devices();

}  // namespace graphline
