#pragma once

#include "framework/device/cuda/library_loader.hpp"

namespace graphline::nn {

/// cuDNN, opened at the first call together with the libraries it loads by name. @throws run_error
/// that lists the searched places and what to install.
const shared_library& cudnn_library_file();

/// cuBLASLt, likewise.
const shared_library& cublaslt_library_file();

}  // namespace graphline::nn
