#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

/// What the worker notes of operations, copies and fills while a trace exists. Notes grow on the
/// worker, between operations, which slows the device down and not the durations.
class operation_log {
 public:
  /// Begins to note. Throws `run_error` while another trace exists.
  std::unique_ptr<operation_trace> trace();

  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

  /// Notes a command that was carried out; the worker's to call, while `is_on`.
  void note(const command& c, nanoseconds duration);

 private:
  class host_trace;

  void end() noexcept;
  std::vector<operation_time> take();

  std::mutex mutex_;  // guards the notes, and that they are taken only while the trace exists
  std::vector<operation_time> notes_;
  std::atomic<bool> on_{false};
};

}  // namespace graphline
