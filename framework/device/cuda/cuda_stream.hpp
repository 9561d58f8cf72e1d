#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "framework/device/device.hpp"

namespace graphline {

class cuda_capture;
struct cuda_engine;

/// A CUDA event with or without timing. Tracks whether it was recorded in a capture, because asking
/// CUDA would invalidate the capture.
class cuda_event final : public timed_event {
 public:
  /// `flags` are those of cudaEventCreateWithFlags. Events without timing and without
  /// cudaEventBlockingSync are the fastest.
  cuda_event(cuda_engine& engine, std::string name, unsigned flags);
  ~cuda_event() override;

  bool done() const override;
  void wait(wait_mode how) const override;
  nanoseconds since(const timed_event& earlier) const override;
  host_point on_host_clock() const override;

  const cuda_engine& engine() const noexcept { return engine_; }
  const std::string& name() const noexcept { return name_; }
  cudaEvent_t handle() const noexcept { return handle_; }
  bool keeps_time() const noexcept { return keeps_time_; }

  void recorded() noexcept { latest_.store(on_stream, std::memory_order_release); }
  void recorded_in_capture(std::uint64_t number) noexcept {
    latest_.store(number, std::memory_order_release);
  }

  bool was_recorded() const noexcept { return latest_.load(std::memory_order_acquire) != never; }

  /// Returns the number of the capture of the latest recording; 0 if it was not in a capture.
  std::uint64_t capture_number() const noexcept {
    const std::uint64_t latest = latest_.load(std::memory_order_acquire);
    return latest == never || latest == on_stream ? 0 : latest;
  }

 private:
  static constexpr std::uint64_t never = 0;
  static constexpr std::uint64_t on_stream = UINT64_MAX;

  void refuse_without_time() const;

  cuda_engine& engine_;
  const std::string name_;
  const bool keeps_time_;
  cudaEvent_t handle_ = nullptr;
  std::atomic<std::uint64_t> latest_{never};
};

/// The cudaHostFn_t that calls a `host_function`; identifies Graphline's host nodes.
void call_host_function(void* function);

/// A non-blocking CUDA stream of one priority.
class cuda_stream final : public stream {
 public:
  cuda_stream(cuda_engine& engine, std::string name, priority level);

  /// Destroys the stream. Enqueued work still completes.
  ~cuda_stream() override;

  const std::string& name() const noexcept override { return name_; }
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void record(event& e) override;
  void wait(const event& e) override;
  void call(host_function& f) override;
  void stamp(timed_event& e) override;
  void select(const std::uint32_t* selector,
              std::span<const std::function<void()>> bodies) override;
  void launch(graph_exec& g) override;

  /// Returns the cudaStream_t and makes the device current for the thread, as launches require.
  void* native() const noexcept override;

  const cuda_engine& engine() const noexcept { return engine_; }
  cudaStream_t handle() const noexcept { return handle_; }
  int urgency() const noexcept { return urgency_; }  ///< lower is more urgent

  /// Makes commands use another stream and returns the one that they used.
  cudaStream_t exchange_handle(cudaStream_t handle) noexcept {
    return std::exchange(handle_, handle);
  }
  cuda_capture* capture() const noexcept { return capture_; }
  void set_capture(cuda_capture* capture) noexcept { capture_ = capture; }

 private:
  const cuda_event& awaited(const event& e) const;
  void check_enqueued(cudaError_t status, const char* call);

  cuda_engine& engine_;
  const std::string name_;
  const int urgency_;
  cudaStream_t handle_ = nullptr;
  cuda_capture* capture_ = nullptr;
};

}  // namespace graphline
