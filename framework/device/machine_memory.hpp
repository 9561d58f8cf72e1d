#pragma once

#include <atomic>
#include <cstddef>

#include "framework/device/backend_parts.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// Allocates host memory for devices without memory of their own. Counts device and pinned memory
/// separately. `on` is the backend's name in messages.
class machine_memory {
 public:
  explicit machine_memory(const char* on) noexcept : on_(on) {}

  memory allocate(std::size_t bytes) { return allocate(device_, bytes, "device"); }
  memory allocate_pinned(std::size_t bytes) { return allocate(pinned_, bytes, "pinned"); }

  memory_usage usage() const noexcept { return usage_of(device_, pinned_); }

 private:
  memory allocate(memory_account& to, std::size_t bytes, const char* kind);

  const char* on_;
  memory_account device_;
  memory_account pinned_;
  std::atomic<std::size_t> since_look_ = 0;  ///< bytes allocated since the last look
};

}  // namespace graphline
