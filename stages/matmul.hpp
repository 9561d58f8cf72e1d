#pragma once

#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline {

/// Whether the project's own loops and kernels are asked for instead of a library.
bool fused_of(const arguments& values);

/// A `matmul` stage on a `host` device: by oneDNN, or by loops if fused.
std::unique_ptr<device_stage> make_host_matmul(device& d, const nn::matmul_form& form,
                                               const stage_config& config);

}  // namespace graphline
