#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "stages/cuda/cuda_library.hpp"

namespace graphline {

/// cuDNN for convolutions and cuBLASLt for products on a `cuda` device. Each library is opened when
/// it is first asked for a plan, which throws `run_error` where it cannot be had. With `tune` plans
/// are tried out on the device, or taken from what earlier runs of the program found out; without,
/// they are those that the library guesses to be the fastest. `owner` leads the messages of what
/// is planned: "stage 'head'". What is planned may outlive this, but not the device. Not for two
/// threads at once.
std::unique_ptr<cuda_library> open_cuda_libraries(device& on, bool tune, std::string owner);

/// For reports: each library with its version, or with "not found". Opens them.
std::vector<std::pair<std::string, std::string>> cuda_library_versions();

}  // namespace graphline
