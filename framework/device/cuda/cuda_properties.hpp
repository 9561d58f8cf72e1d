#pragma once

#include <string>

#include "framework/device/cuda/nvml.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// What CUDA says of the device of that number without a context on any. Throws `cuda_error`.
device_properties cuda_properties(int index);

/// "13.0" for 13000, as CUDA counts its versions.
std::string cuda_version_text(int version);

/// What the driver tells of it; nothing where it does not. Throws as above.
std::optional<nvml_device> nvml_device_of(int index);

}  // namespace graphline
