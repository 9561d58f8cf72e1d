#pragma once

#include "framework/device/device.hpp"

namespace graphline {

/// What CUDA says of the device of that number. Throws `cuda_error`.
device_properties cuda_properties(int index);

}  // namespace graphline
