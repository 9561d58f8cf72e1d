#pragma once

#include <atomic>
#include <new>
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
    if (!is_set()) return;
    throw run_error(message_.empty() ? "the host device ran out of memory" : message_);
  }

  /// Keeps the first failure only. The worker's to call.
  void set(std::string_view operation, std::string_view reason) noexcept {
    if (is_set()) return;
    try {
      message_.assign("operation '").append(operation).append("' failed on the host device: ");
      message_.append(reason);
    } catch (const std::bad_alloc&) {
      message_.clear();
    }
    set_.store(true, std::memory_order_release);
  }

 private:
  std::string message_;
  std::atomic<bool> set_{false};
};

}  // namespace graphline
