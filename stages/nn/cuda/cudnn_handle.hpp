#pragma once

#include <cudnn_graph.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace graphline::nn {

/// Throws `run_error` unless `status` is a success: "stage 'head': cudnnCreate failed:
/// CUDNN_STATUS_NOT_INITIALIZED (1001), no CUDA-capable device". `owner` is whom it was called for.
void check_cudnn(cudnnStatus_t status, std::string_view call, std::string_view owner);

/// "9.19.0", of the library that is loaded.
std::string cudnn_version();

/// What cuDNN keeps for one device, for one thread at a time.
class cudnn_handle {
 public:
  /// For the current device. Throws `run_error` when there is no cuDNN or it fails.
  explicit cudnn_handle(std::string owner);
  ~cudnn_handle();
  cudnn_handle(const cudnn_handle&) = delete;
  cudnn_handle& operator=(const cudnn_handle&) = delete;

  cudnnHandle_t get() const noexcept { return handle_; }
  const std::string& owner() const noexcept { return owner_; }

  /// Held from choosing a stream until what goes to it is enqueued.
  std::mutex& lock() noexcept { return lock_; }

  /// What is executed next goes to this stream. May be called under a capture.
  void use_stream(cudaStream_t stream);

 private:
  std::string owner_;
  cudnnHandle_t handle_ = nullptr;
  std::optional<cudaStream_t> stream_;
  std::mutex lock_;
};

/// What a message of cuDNN's frontend gives as the reason, in one line and not a long one: of a log
/// of refusals the first reason, of the engine that cuDNN thought best.
std::string reason_in(const std::string& message);

}  // namespace graphline::nn
