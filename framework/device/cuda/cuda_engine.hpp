#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/words.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_capture.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct cuda_engine;

/// Allocates and counts device memory (cudaMalloc) and pinned host memory. Uses no pool, because a
/// pipeline allocates a few large blocks during preparation.
class cuda_memory {
 public:
  /// Initial value of every byte. Floats read as NaN, which exposes uninitialized reads.
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

/// Converts event times to the host's clock. The anchor is an event recorded between two readings
/// of the host's clock. CUDA reports the time between two events, as float32 milliseconds with a
/// resolution that depends on the device.
class cuda_clock {
 public:
  explicit cuda_clock(cuda_engine& engine);

  /// Replaces the anchor with the best of several tries. Thread-safe. The device should be idle.
  clock_check check();

  /// Returns the device time between two events in nanoseconds.
  /// @throws run_error naming both events if one is not complete or was never recorded
  nanoseconds elapsed(cudaEvent_t earlier, const std::string& earlier_name, cudaEvent_t later,
                      const std::string& later_name) const;

  /// Returns the resolution of the times between events.
  nanoseconds tick() const noexcept { return tick_; }

  /// Returns the host time at which an event completed. The error excludes drift and grows with the
  /// time since the last check, because float32 has a mantissa of 24 bits.
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
  std::mutex checking_;  // serializes checks
  anchor next_;          // guarded by `checking_`
  bool checked_ = false;
  mutable std::mutex mutex_;  // guards `current_`
  anchor current_;
};

/// State that the streams, events, graphs and memory of a `cuda` device share.
struct cuda_engine {
  /// @throws cuda_error
  explicit cuda_engine(int index);
  ~cuda_engine();
  cuda_engine(const cuda_engine&) = delete;
  cuda_engine& operator=(const cuda_engine&) = delete;

  /// Makes the device current for the calling thread. Call it before every CUDA call, because in a
  /// thread without a current device even a query creates a context on device 0. A call with a
  /// handle of this device reports an error itself, so the status may be ignored; with peers, the
  /// error can be that of a wrong current device.
  cudaError_t make_current() noexcept;

  /// Same as `make_current`, for calls without such a handle. Throws like `check`.
  void require_current(cuda_subject subject) { check(make_current(), "cudaSetDevice", subject); }

  /// Enables peer access in both directions, unless both are the same GPU.
  /// @throws run_error if the GPUs have no peer access; cuda_error
  void connect(cuda_engine& peer);

  /// Returns true if `connect` was called with `other`.
  bool is_peer(const cuda_engine& other) const noexcept {
    return std::ranges::find(peers_, &other) != peers_.end();
  }

  /// Throws the failure of a peer. After one, events of this device that wait for the peer's events
  /// may complete without the work before these, or never.
  void check_peers() {
    if (!peers_.empty()) [[unlikely]]
      ask_peers();
  }

  /// Same as `check_peers`, for polling. Asks CUDA in one of several calls.
  void check_peers_while_polling() {
    constexpr std::uint32_t calls = 16;
    if (!peers_.empty() && polls_.fetch_add(1, std::memory_order_relaxed) % calls == 0) [[unlikely]]
      ask_peers();
  }

  /// Lower is more urgent.
  int stream_priority(priority level) const noexcept;

  /// Returns the number of distinct levels among high, normal and low.
  int priority_levels() const noexcept;

  /// Checks the status of a call that waits or creates objects. If the call failed, throws the
  /// first failure of the device, or else `cuda_error`.
  void check(cudaError_t status, const char* call, cuda_subject of) {
    if (status != cudaSuccess) [[unlikely]]
      fail(status, call, of);
  }

  /// Checks the status of a call that enqueues work. Does not throw for a sticky error, because the
  /// next wait reports it.
  void check_enqueued(cudaError_t status, const char* call, cuda_subject of) {
    if (status != cudaSuccess) [[unlikely]]
      fail_enqueued(status, call, of);
  }

  [[noreturn]] void fail(cudaError_t status, const char* call, cuda_subject of);
  void fail_enqueued(cudaError_t status, const char* call, cuda_subject of);

  const int index;
  const std::string name;  ///< "cuda:0"
  device_failure failed;
  unique_cuda<cudaStream_t> setup;  ///< stream for preparation
  cuda_memory memory;
  cuda_captures captures;
  cuda_clock clock;

 private:
  void enable_access_to(const cuda_engine& peer);
  void ask_peers();

  std::vector<cuda_engine*> peers_;
  std::atomic<std::uint32_t> polls_{0};
  int least_urgent_ = 0;
  int most_urgent_ = 0;
};

/// Returns why two GPUs have no peer access to each other; empty if they do, or are the same.
/// @throws cuda_error
std::string why_no_peer_access(int index, int other);

}  // namespace graphline
