#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <string>

#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct cuda_engine;
struct cuda_subject;

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

}  // namespace graphline
