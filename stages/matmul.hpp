#pragma once

#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline {

/// Whether `method` chooses Graphline's own loops and kernels instead of a library.
bool fused_of(const arguments& values);

/// A `matmul` stage on a `host` device, by oneDNN or, if fused, by loops.
std::unique_ptr<device_stage> make_host_matmul(device& d, const nn::matmul_form& form,
                                               const stage_config& config);

}  // namespace graphline
