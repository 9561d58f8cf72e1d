#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>

namespace graphline {

/// Gives the calling thread the class SCHED_FIFO during this object's lifetime, then its former
/// class. Threads that it creates meanwhile get the default class. Does nothing for priority 0.
class scoped_realtime {
 public:
  explicit scoped_realtime(std::int64_t priority) noexcept;
  ~scoped_realtime();
  scoped_realtime(const scoped_realtime&) = delete;
  scoped_realtime& operator=(const scoped_realtime&) = delete;

  /// Returns true if the system refused the class. The thread then keeps its former class.
  bool refused() const noexcept { return refused_; }

 private:
  struct scheduling {
    int policy;
    ::sched_param parameters;
  };
  std::optional<scheduling> before_;
  bool refused_ = false;
};

/// Returns the message for a refused priority: what refused it, and what grants it.
std::string realtime_refusal(std::int64_t priority);

}  // namespace graphline
