#pragma once

#include <memory>

#include "framework/stage/stage.hpp"

namespace graphline {

/// The `gemv` stage on a `cuda` device: by cuBLASLt, or by a kernel of the project's. Throws
/// `run_error` when the library cannot be had or has nothing for the product.
std::unique_ptr<device_stage> make_gemv_cuda(device& d, const stage_config& config);

}  // namespace graphline
