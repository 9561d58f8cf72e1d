#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstddef>
#include <mutex>
#include <string>

#include "framework/base/error.hpp"
#include "framework/base/words.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_capture.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct cuda_engine;

/// Device memory (cudaMalloc) and pinned host memory of a `cuda` device, counted. A pipeline asks
/// for few large blocks while it is made ready, and shares them out by lifetime; so there is no
/// pool of small ones here.
class cuda_memory {
 public:
  /// Every byte of fresh memory, as on `host`: reads as NaN, so what is used before it is written
  /// shows.
  static constexpr int unwritten = 0xff;

  explicit cuda_memory(cuda_engine& engine) noexcept : engine_(engine) {}

  memory allocate(std::size_t bytes);
  memory allocate_pinned(std::size_t bytes);

  memory_usage usage() const noexcept { return usage_of(device_, pinned_); }

 private:
  static void release_device(void* from, void* data, std::size_t bytes) noexcept;
  static void release_pinned(void* from, void* data, std::size_t bytes) noexcept;

  cuda_engine& engine_;
  memory_account device_;
  memory_account pinned_;
};

/// Puts the times of events on the host's clock, by an anchor: an event that is known to have
/// passed between two readings of the host's clock. CUDA gives times between events only, as
/// float32 milliseconds, in steps whose size depends on the device.
class cuda_clock {
 public:
  explicit cuda_clock(cuda_engine& engine);

  /// Sets the anchor anew, from the tightest of several tries. The device should be idle. From any
  /// thread.
  clock_check check();

  /// Device time between two events that have passed. Throws `run_error` naming the one that has
  /// not.
  nanoseconds elapsed(cudaEvent_t earlier, const std::string& earlier_name, cudaEvent_t later,
                      const std::string& later_name) const;

  /// The steps in which the device counts the times between events, as it was opened.
  nanoseconds tick() const noexcept { return tick_; }

  /// When an event passed. The error grows with the time since the last check: float32 keeps 24
  /// bits. Drift since then is not in it.
  host_point on_host_clock(cudaEvent_t e, const std::string& name) const;

 private:
  struct anchor {
    unique_cuda<cudaEvent_t> event;
    host_point point;
  };

  unique_cuda<cudaEvent_t> make_event() const;
  void place(anchor& a) const;
  void poll(cudaEvent_t e, const cuda_subject& subject) const;
  nanoseconds measured_tick() const;

  cuda_engine& engine_;
  nanoseconds tick_;
  std::mutex checking_;  // checks go one after another
  anchor next_;          // under `checking_`
  bool checked_ = false;
  mutable std::mutex mutex_;  // of what points are read from while it is replaced
  anchor current_;
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
  device_failure failed;
  unique_cuda<cudaStream_t> setup;  ///< for what happens while a pipeline is made ready
  cuda_memory memory;
  cuda_captures captures;
  cuda_clock clock;

 private:
  int least_urgent_ = 0;
  int most_urgent_ = 0;
};

}  // namespace graphline
