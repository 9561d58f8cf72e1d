#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// The operation trace of a device that is implemented in software.
class operation_log {
 public:
  /// @throws run_error if a trace exists already
  std::unique_ptr<operation_trace> trace();

  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

  /// Appends an operation. Call it in order of start times, while `is_on()`.
  void note(std::string name, nanoseconds duration);

 private:
  class logged_trace;

  void end() noexcept;
  std::vector<operation_time> take();

  std::mutex mutex_;
  std::vector<operation_time> notes_;
  std::atomic<bool> on_{false};
};

}  // namespace graphline
