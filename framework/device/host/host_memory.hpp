#pragma once

#include <cstddef>

#include "framework/device/backend_parts.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// The memory of the `host` device. Its device memory and its pinned memory are both plain memory
/// of this machine, and are counted apart as on a device where they differ.
class host_memory {
 public:
  /// Every byte of fresh memory. As float32 and float64 it reads as NaN, so what is used before it
  /// is written shows; writing it also brings the pages in before anything is timed.
  static constexpr unsigned char unwritten = 0xff;

  static constexpr std::size_t alignment = 256;

  memory allocate(std::size_t bytes) { return allocate(device_, bytes, "device"); }
  memory allocate_pinned(std::size_t bytes) { return allocate(pinned_, bytes, "pinned"); }

  memory_usage usage() const noexcept { return usage_of(device_, pinned_); }

 private:
  memory allocate(memory_account& to, std::size_t bytes, const char* kind);
  static void release(void* from, void* data, std::size_t bytes) noexcept;

  memory_account device_;
  memory_account pinned_;
};

}  // namespace graphline
