#pragma once

#include "framework/device/devices.hpp"

namespace graphline {

/// All backends of this build: `cuda`, if built with the CUDA toolkit, and `host`.
const device_list& builtin_devices();

}  // namespace graphline
