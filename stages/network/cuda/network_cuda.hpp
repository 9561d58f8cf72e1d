#pragma once

#include <memory>
#include <string>

#include "framework/stage/stage.hpp"

namespace graphline {

/// Its device tensors are channels last on `cuda`, and of the type in which it computes.
device_form network_form(const arguments& values, const std::string& backend);

/// The `network` stage on a `cuda` device: cuDNN, cuBLASLt and kernels of the project's own,
/// weights in device memory. Throws `input_error` for a wrong weights file, `run_error` when the
/// libraries cannot be had or have nothing for a layer.
std::unique_ptr<device_stage> make_network_cuda(device& d, const stage_config& config);

}  // namespace graphline
