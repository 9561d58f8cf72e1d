#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// What a device that carries its operations out itself notes of them while a trace exists.
class operation_log {
 public:
  /// Begins to note. Throws `run_error` while another trace exists.
  std::unique_ptr<operation_trace> trace();

  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

  /// Notes an operation; to be called in the order of their begin, while `is_on`.
  void note(std::string name, nanoseconds duration);

 private:
  class logged_trace;

  void end() noexcept;
  std::vector<operation_time> take();

  std::mutex mutex_;  // guards the notes, and that they are taken only while the trace exists
  std::vector<operation_time> notes_;
  std::atomic<bool> on_{false};
};

}  // namespace graphline
