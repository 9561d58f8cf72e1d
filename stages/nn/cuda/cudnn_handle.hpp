#pragma once

#include <cudnn_graph.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace graphline::nn {

/// @throws run_error unless `status` is success: "stage 'head': cudnnCreate failed:
/// CUDNN_STATUS_NOT_INITIALIZED (1001), no CUDA-capable device". `owner` leads the message.
void check_cudnn(cudnnStatus_t status, std::string_view call, std::string_view owner);

/// Returns the version of the loaded library: "9.19.0".
std::string cudnn_version();

/// A cuDNN handle for one device, used by one thread at a time.
class cudnn_handle {
 public:
  /// Uses the current device. @throws run_error if cuDNN is not available or fails.
  explicit cudnn_handle(std::string owner);
  ~cudnn_handle();
  cudnn_handle(const cudnn_handle&) = delete;
  cudnn_handle& operator=(const cudnn_handle&) = delete;

  cudnnHandle_t get() const noexcept { return handle_; }
  const std::string& owner() const noexcept { return owner_; }

  /// Returns the lock to hold from `use_stream` until the work is enqueued.
  std::mutex& lock() noexcept { return lock_; }

  /// Sets the stream of subsequent executions. May be called under capture.
  void use_stream(cudaStream_t stream);

 private:
  std::string owner_;
  cudnnHandle_t handle_ = nullptr;
  std::optional<cudaStream_t> stream_;
  std::mutex lock_;
};

/// Returns the reason in a frontend message as one short line. From a list of refusals, returns the
/// reason for the engine that cuDNN ranks first.
std::string reason_in(const std::string& message);

}  // namespace graphline::nn
