#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

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

  memory_usage usage() const noexcept;

 private:
  struct account {
    std::atomic<std::size_t> bytes{0};
    std::atomic<std::size_t> peak{0};
  };

  memory allocate(account& to, std::size_t bytes, const char* kind);
  static void release(void* from, void* data, std::size_t bytes) noexcept;

  account device_;
  account pinned_;
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace graphline
