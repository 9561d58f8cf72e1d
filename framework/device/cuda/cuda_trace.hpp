#pragma once

#include <memory>

#include "framework/device/device.hpp"

namespace graphline {

/// Kernels, copies and fills of one device, as CUPTI tells them. CUPTI serves a process once, so
/// there is one trace at a time. Throws `run_error` when there is one already, or CUPTI cannot be
/// had.
std::unique_ptr<operation_trace> trace_cuda_operations(int device);

}  // namespace graphline
