#pragma once

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <string>

#include "framework/base/error.hpp"
#include "framework/base/words.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_capture.hpp"
#include "framework/device/cuda/cuda_clock.hpp"
#include "framework/device/cuda/cuda_memory.hpp"

namespace graphline {

/// Whether a device has failed for good, and the first message that said so.
class cuda_failure {
 public:
  void throw_if_set() const {
    if (set_.load(std::memory_order_acquire)) throw run_error(message_);
  }
  bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }

  void set(const std::string& message) {
    const std::scoped_lock lock(mutex_);
    if (set_.load(std::memory_order_relaxed)) return;
    message_ = message;
    set_.store(true, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::string message_;  // written once, before `set_`
  std::atomic<bool> set_{false};
};

/// What the streams, events, graphs and memory of one `cuda` device share.
struct cuda_engine {
  /// Makes the device's context. Throws `cuda_error`.
  explicit cuda_engine(int index);
  ~cuda_engine() { make_current(); }
  cuda_engine(const cuda_engine&) = delete;
  cuda_engine& operator=(const cuda_engine&) = delete;

  /// Makes the device the calling thread's current one. Before every call: launches and whatever is
  /// made want it, and in a thread without a current device any call, even to ask or destroy, makes
  /// a context on device 0, which takes memory there or is refused. On a failed device this may
  /// fail: a call for a handle of this device then fails too, and tells; one that would be for
  /// whichever device is current instead goes by `require_current`.
  cudaError_t make_current() noexcept;

  /// The same before calls that have no handle of this device. `subject` is what they are for.
  /// Throws as `check`.
  void require_current(cuda_subject subject) { check(make_current(), "cudaSetDevice", subject); }

  /// Of CUDA, for a stream of that priority: lower is more urgent.
  int stream_priority(priority level) const noexcept;

  /// How many of high, normal and low that tells apart.
  int priority_levels() const noexcept;

  /// For calls that wait or make something: throws the first failure of the device once there is
  /// one, and `cuda_error` when this call failed.
  void check(cudaError_t status, const char* call, cuda_subject of) {
    if (status != cudaSuccess) [[unlikely]]
      fail(status, call, of);
  }

  /// For calls that enqueue: as `check`, but once the device has failed they do nothing, and it is
  /// the next wait that tells.
  void check_enqueued(cudaError_t status, const char* call, cuda_subject of) {
    if (status != cudaSuccess) [[unlikely]]
      fail_enqueued(status, call, of);
  }

  [[noreturn]] void fail(cudaError_t status, const char* call, cuda_subject of);
  void fail_enqueued(cudaError_t status, const char* call, cuda_subject of);

  const int index;
  const std::string name;  ///< "cuda:0"
  cuda_failure failed;
  unique_cuda<cudaStream_t> setup;  ///< for what happens while a pipeline is made ready
  cuda_memory memory;
  cuda_captures captures;
  cuda_clock clock;

 private:
  void note_failure(cudaError_t status) noexcept;

  int least_urgent_ = 0;
  int most_urgent_ = 0;
};

}  // namespace graphline
