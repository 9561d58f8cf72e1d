#pragma once

#include <memory>
#include <string>

#include "framework/device/device.hpp"
#include "framework/device/devices.hpp"

namespace graphline {

/// Opens a CUDA device by its ordinal. The device may be open already.
/// @throws run_error if the device cannot be used
std::unique_ptr<device> open_cuda_device(int index);

/// Makes a `cuda` device current for the calling thread and returns its ordinal.
/// @throws run_error if the device belongs to another backend or has failed
int use_cuda_device(device& d);

backend cuda_backend();

/// Traces kernels, copies and fills of one device with CUPTI, which allows one trace per process.
/// @throws run_error if a trace exists already or CUPTI is missing
std::unique_ptr<operation_trace> trace_cuda_operations(int device);

/// Returns "13.0" for 13000.
std::string cuda_version_text(int version);

}  // namespace graphline
