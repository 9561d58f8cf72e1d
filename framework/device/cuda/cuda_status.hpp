#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "framework/base/error.hpp"

namespace graphline {

/// A CUDA call that did not succeed: "cudaStreamBeginCapture for stream 'copy' failed:
/// cudaErrorStreamCaptureUnsupported (900), operation not permitted when stream is capturing".
class cuda_error : public run_error {
 public:
  cuda_error(cudaError_t status, std::string_view call, std::string_view subject);

  cudaError_t status() const noexcept { return status_; }

 private:
  cudaError_t status_;
};

/// Throws `cuda_error` unless `status` is cudaSuccess. `call` is the function, `subject` what it
/// was called for: "stream 'copy'"; it is only looked at after a failure.
inline void check_cuda(cudaError_t status, std::string_view call, std::string_view subject) {
  if (status != cudaSuccess) [[unlikely]]
    throw cuda_error(status, call, subject);
}

}  // namespace graphline
