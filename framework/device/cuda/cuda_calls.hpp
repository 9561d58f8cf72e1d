#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "framework/base/error.hpp"

namespace graphline {

/// Thrown if a CUDA call fails: "cudaStreamEndCapture for stream 'copy' failed:
/// cudaErrorStreamCaptureInvalidated (901), operation failed due to a previous error during
/// capture".
class cuda_error : public run_error {
 public:
  cuda_error(cudaError_t status, std::string_view call, std::string_view subject);

  cudaError_t status() const noexcept { return status_; }

 private:
  cudaError_t status_;
};

/// Returns true if the error corrupts the context, so that all later calls fail (a sticky error).
bool is_sticky(cudaError_t status) noexcept;

/// Throws `cuda_error` unless `status` is cudaSuccess. `subject` is the object of the call, such as
/// "stream 'copy'".
inline void check_cuda(cudaError_t status, std::string_view call, std::string_view subject) {
  if (status != cudaSuccess) [[unlikely]]
    throw cuda_error(status, call, subject);
}

/// The object of a call, for error messages. Its text is formatted only if the call fails.
struct cuda_subject {
  const char* kind;  ///< "stream"
  const std::string& name;

  std::string text() const { return std::string(kind) + " '" + name + "'"; }
};

/// Destroys a CUDA object. Ignores the status. An error here comes from process exit, or from an
/// earlier failure that a wait has reported.
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
