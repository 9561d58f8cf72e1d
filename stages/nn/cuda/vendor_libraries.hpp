#pragma once

#include "framework/device/cuda/library_loader.hpp"

namespace graphline::nn {

/// cuDNN, opened at the first call together with what it looks for itself. Throws `run_error` that
/// says where it was looked for and what to install.
const shared_library& cudnn_library_file();

/// cuBLASLt, in the same way.
const shared_library& cublaslt_library_file();

}  // namespace graphline::nn
