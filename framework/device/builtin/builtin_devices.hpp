#pragma once

#include "framework/device/devices.hpp"

namespace graphline {

/// Returns all backends of this build: `host`, and `cuda` if built with the CUDA toolkit.
const device_list& builtin_devices();

}  // namespace graphline
