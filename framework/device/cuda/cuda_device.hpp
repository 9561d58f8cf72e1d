#pragma once

#include <memory>
#include <string>

#include "framework/device/device.hpp"
#include "framework/device/devices.hpp"

namespace graphline {

/// Opens a CUDA device of this machine by its number. Throws `run_error` when it cannot be used.
/// Several may be open at once, each also more than once.
std::unique_ptr<device> open_cuda_device(int index);

/// Makes a `cuda` device the calling thread's current one and returns CUDA's number of it. Throws
/// `run_error` when it is a device of another backend or has failed.
int use_cuda_device(device& d);

/// The entry for a `device_list`.
backend cuda_backend();

/// Kernels, copies and fills of one device, as CUPTI tells them. CUPTI serves a process once, so
/// there is one trace at a time. Throws `run_error` when there is one already, or CUPTI cannot be
/// had.
std::unique_ptr<operation_trace> trace_cuda_operations(int device);

/// "13.0" for 13000, as CUDA counts its versions.
std::string cuda_version_text(int version);

}  // namespace graphline
