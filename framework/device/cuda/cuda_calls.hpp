#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "framework/base/error.hpp"

namespace graphline {

/// A CUDA call that did not succeed: "cudaStreamEndCapture for stream 'copy' failed:
/// cudaErrorStreamCaptureInvalidated (901), operation failed due to a previous error during
/// capture".
class cuda_error : public run_error {
 public:
  cuda_error(cudaError_t status, std::string_view call, std::string_view subject);

  cudaError_t status() const noexcept { return status_; }

 private:
  cudaError_t status_;
};

/// Whether nothing works on the device any more after this: CUDA's word for it is a sticky error.
bool is_sticky(cudaError_t status) noexcept;

/// Throws `cuda_error` unless `status` is cudaSuccess. `call` is the function, `subject` what it
/// was called for: "stream 'copy'".
inline void check_cuda(cudaError_t status, std::string_view call, std::string_view subject) {
  if (status != cudaSuccess) [[unlikely]]
    throw cuda_error(status, call, subject);
}

/// What a call was made for. Becomes text only when the call failed.
struct cuda_subject {
  const char* kind;  ///< "stream"
  const std::string& name;

  std::string text() const { return std::string(kind) + " '" + name + "'"; }
};

/// Gives a CUDA object back. Statuses are let go: they tell of earlier failures, which a wait has
/// told, or of the end of the process.
struct cuda_deleter {
  void operator()(cudaStream_t s) const noexcept { static_cast<void>(cudaStreamDestroy(s)); }
  void operator()(cudaEvent_t e) const noexcept { static_cast<void>(cudaEventDestroy(e)); }
  void operator()(cudaGraph_t g) const noexcept { static_cast<void>(cudaGraphDestroy(g)); }
  void operator()(cudaGraphExec_t g) const noexcept { static_cast<void>(cudaGraphExecDestroy(g)); }
};

/// Owner of a cudaStream_t, cudaEvent_t, cudaGraph_t or cudaGraphExec_t.
template <class Handle>
using unique_cuda = std::unique_ptr<std::remove_pointer_t<Handle>, cuda_deleter>;

}  // namespace graphline
