#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/virtual_clock.hpp"

namespace graphline {

/// Runs the driver threads of several executors in virtual time, one at a time and always in the
/// same order. The clock advances only while all drivers wait.
class virtual_drivers {
 public:
  explicit virtual_drivers(virtual_clock& clock) : clock_(clock) {}

  /// Calls each function on a thread of its own; returns when all have returned.
  /// @throws The exception of the first function that threw
  void run(const std::vector<std::function<void()>>& functions);

  // Call on a driver's thread.

  /// Waits until the clock has reached `when`.
  void wait_until(nanoseconds when);

  /// Waits until the clock has run its next call.
  /// @throws run_error if no call is left
  void wait_for_call();

 private:
  struct driver {
    std::thread thread = {};
    bool ready = true;
    bool awaits_call = false;
    bool done = false;
    std::exception_ptr problem = nullptr;
  };

  void drive(driver& d, const std::function<void()>& function);
  void resume(driver& d);
  void pause(driver& d);
  void advance();

  virtual_clock& clock_;
  std::deque<driver> drivers_;
  std::mutex lock_;
  std::condition_variable changed_;
  driver* running_ = nullptr;  ///< guarded by `lock_`; null: the thread that called `run`
  bool stuck_ = false;         ///< no call is left
  static thread_local driver* own_;
};

}  // namespace graphline
