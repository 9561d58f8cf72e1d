#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {

/// The captures going on at a device. `Capture` has a `number()` and an `origin_name()`.
template <class Capture>
class capture_registry {
 public:
  /// Adds a capture and returns its number, counted from 1.
  std::uint64_t add(Capture& capture) {
    const std::scoped_lock lock(mutex_);
    open_.push_back(&capture);
    return ++count_;
  }

  void remove(const Capture& capture) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase(open_, &capture);
  }

  /// The capture of that number, or null when it has ended.
  Capture* find(std::uint64_t number) const {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(open_, number, &Capture::number);
    return found == open_.end() ? nullptr : *found;
  }

  /// Throws `run_error` when a capture is going on: what waits for the whole device would wait for
  /// work that is being listed and not carried out, and on some devices break the capture.
  void refuse_synchronize() const {
    const std::scoped_lock lock(mutex_);
    if (open_.empty()) return;
    throw run_error(
        fmt::format("the device cannot be synchronized while stream '{}' is being captured; end "
                    "the capture first",
                    open_.front()->origin_name()));
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::vector<Capture*> open_;
};

}  // namespace graphline
