#pragma once

#include <memory>
#include <string>

#include "framework/stage/stage.hpp"

namespace graphline {

// The built-in stages on a `cuda` device. All throw `run_error` when a library cannot be had or has
// nothing for what is asked of it.

/// The `network` stage: cuDNN, cuBLASLt and kernels of the project's own, weights in device memory.
/// Throws `input_error` for a wrong weights file.
std::unique_ptr<device_stage> make_network_cuda(device& d, const stage_config& config);

/// Its device tensors are channels last on `cuda`, and of the type in which it computes.
device_form network_form(const arguments& values, const std::string& backend);

/// The `matmul` stage, by cuBLASLt.
std::unique_ptr<device_stage> make_matmul_cuda(device& d, const stage_config& config);

/// The `gemv` stage: by cuBLASLt, or by a kernel of the project's.
std::unique_ptr<device_stage> make_gemv_cuda(device& d, const stage_config& config);

/// The `traffic` stage: a copy or a fill by the runtime, or a sum by a kernel.
std::unique_ptr<device_stage> make_traffic_cuda(device& d, const stage_config& config);

}  // namespace graphline
