#pragma once

#include <atomic>
#include <limits>

#include "framework/base/clock.hpp"

namespace graphline {

/// A request to stop early, polled between frames. Lock-free, so that signal handlers may raise it.
class stop_request {
 public:
  stop_request() noexcept = default;

  /// Creates a request for a part of the work; it is also raised while `outer` is raised. `outer`
  /// may be null and must outlive this object.
  explicit stop_request(const stop_request* outer) noexcept : outer_(outer) {}

  /// Raises the request at host time `at`.
  /// @pre no thread polls it yet
  void raise_at(nanoseconds at) noexcept { at_ = at; }

  void raise() noexcept { raised_.store(true, std::memory_order_relaxed); }
  bool raised() const noexcept {
    return raised_.load(std::memory_order_relaxed) || (outer_ != nullptr && outer_->raised()) ||
           (at_ != never && now() >= at_);
  }

 private:
  static constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();

  std::atomic<bool> raised_{false};
  const stop_request* outer_ = nullptr;
  nanoseconds at_ = never;
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace graphline
