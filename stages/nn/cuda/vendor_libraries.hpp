#pragma once

#include "framework/device/cuda/library_loader.hpp"

namespace graphline::nn {

/// Returns cuDNN. The first call opens cuDNN and the libraries that it loads by name. @throws
/// run_error that lists the searched places and what to install.
const shared_library& cudnn_library_file();

/// Returns cuBLASLt, opened at the first call. @throws run_error as above.
const shared_library& cublaslt_library_file();

}  // namespace graphline::nn
