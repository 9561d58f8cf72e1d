#pragma once

#include <atomic>

#include "framework/device/device.hpp"

namespace graphline {

/// A host function's way through the caller thread. Belongs to the lane or the graph that the call
/// stands in, so that handing one over allocates nothing; used again once it has returned.
class handed_call {
 public:
  /// Whether the latest call handed over has returned; the caller thread is done with it then.
  bool has_returned() const noexcept { return returned_.load(std::memory_order_seq_cst); }

 private:
  friend class host_caller;

  host_function* function_ = nullptr;
  handed_call* next_ = nullptr;
  std::atomic<bool> returned_{false};
};

}  // namespace graphline
