#include "framework/device/cuda/cuda_status.hpp"

#include <fmt/format.h>

namespace graphline {

cuda_error::cuda_error(cudaError_t status, std::string_view call, std::string_view subject)
    : run_error(fmt::format("{} for {} failed: {} ({}), {}", call, subject,
                            cudaGetErrorName(status), static_cast<int>(status),
                            cudaGetErrorString(status))),
      status_(status) {}

}  // namespace graphline
