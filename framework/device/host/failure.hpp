#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "framework/base/error.hpp"

namespace graphline {

/// Whether a device has failed, and in what. Set once by the worker and never reset: what an
/// operation left half done cannot be trusted.
class failure {
 public:
  bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }

  void throw_if_set() const {
    if (is_set()) throw run_error(message_);
  }

  /// Keeps the first failure only. The worker's to call.
  void set(std::string_view operation, std::string_view reason) {
    if (is_set()) return;
    message_.assign("operation '").append(operation).append("' failed on the host device: ");
    message_.append(reason);
    set_.store(true, std::memory_order_release);
  }

 private:
  std::string message_;
  std::atomic<bool> set_{false};
};

}  // namespace graphline
