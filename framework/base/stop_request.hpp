#pragma once

#include <atomic>

namespace graphline {

/// A request to stop early, set from a signal handler or another thread, polled between frames.
/// Lock-free, so that a signal handler may set it.
class stop_request {
 public:
  void raise() noexcept { raised_.store(true, std::memory_order_relaxed); }
  bool raised() const noexcept { return raised_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> raised_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace graphline
