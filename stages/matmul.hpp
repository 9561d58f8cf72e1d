#pragma once

#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline {

/// Returns true if `method` selects Graphline's own loops and kernels instead of a library.
bool fused_of(const arguments& values);

/// Makes a `matmul` stage on a `host` device, with oneDNN or, if fused, with loops.
std::unique_ptr<device_stage> make_host_matmul(device& d, const nn::matmul_form& form,
                                               const stage_config& config);

}  // namespace graphline
