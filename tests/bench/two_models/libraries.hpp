#pragma once

#include "framework/device/cuda/library_loader.hpp"

namespace two_models {

/// cuDNN and cuBLASLt, found in the usual places when first asked for, so that the program starts
/// on a machine that has them only among Python's packages. Throw `run_error` where they are not.
const graphline::shared_library& cudnn();
const graphline::shared_library& cublaslt();

}  // namespace two_models
