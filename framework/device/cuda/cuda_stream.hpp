#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "framework/device/device.hpp"

namespace graphline {

class cuda_capture;
struct cuda_engine;

/// What CUDA is given to call for a `host_function`; tells the graph nodes that are one from those
/// that something else captured.
void call_host_function(void* function);

/// A non-blocking CUDA stream of one priority.
class cuda_stream final : public stream {
 public:
  cuda_stream(cuda_engine& engine, std::string name, priority level);

  /// What is enqueued is still carried out.
  ~cuda_stream() override;

  const std::string& name() const noexcept override { return name_; }
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void record(event& e) override;
  void wait(const event& e) override;
  void call(host_function& f) override;
  void stamp(timed_event& e) override;
  void launch(graph_exec& g) override;

  /// The cudaStream_t. Makes the device current for the calling thread, as a kernel launch wants
  /// it.
  void* native() const noexcept override;

  const cuda_engine& engine() const noexcept { return engine_; }
  cudaStream_t handle() const noexcept { return handle_; }
  cuda_capture* capture() const noexcept { return capture_; }
  void set_capture(cuda_capture* capture) noexcept { capture_ = capture; }

 private:
  void check_enqueued(cudaError_t status, const char* call);

  cuda_engine& engine_;
  const std::string name_;
  cudaStream_t handle_ = nullptr;
  cuda_capture* capture_ = nullptr;
};

}  // namespace graphline
