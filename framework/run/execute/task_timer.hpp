#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// A thread that calls a function with a token when the token's time has come.
class task_timer {
 public:
  /// @param capacity Maximum number of pending tokens, for which no call allocates.
  /// @param realtime Priority for `scoped_realtime`, which the caller may use.
  /// @throws run_error if the thread cannot be started
  task_timer(std::size_t capacity, std::function<void(std::uint64_t token)> call,
             std::int64_t realtime = 0);
  ~task_timer();

  void at(nanoseconds when, std::uint64_t token);

 private:
  using entry = std::pair<nanoseconds, std::uint64_t>;

  void run();

  std::function<void(std::uint64_t)> call_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<entry> pending_;  ///< a heap, the earliest first
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace graphline
