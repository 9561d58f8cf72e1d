#pragma once

#include <cstddef>

#include "framework/device/backend_parts.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct cuda_engine;

/// Device memory (cudaMalloc) and pinned host memory of a `cuda` device, counted. A pipeline asks
/// for few large blocks while it is made ready, and shares them out by lifetime; so there is no
/// pool of small ones here.
class cuda_memory {
 public:
  /// Every byte of fresh memory, as on `host`: reads as NaN, so what is used before it is written
  /// shows.
  static constexpr int unwritten = 0xff;

  explicit cuda_memory(cuda_engine& engine) noexcept : engine_(engine) {}

  memory allocate(std::size_t bytes);
  memory allocate_pinned(std::size_t bytes);

  memory_usage usage() const noexcept { return usage_of(device_, pinned_); }

 private:
  static void release_device(void* from, void* data, std::size_t bytes) noexcept;
  static void release_pinned(void* from, void* data, std::size_t bytes) noexcept;

  cuda_engine& engine_;
  memory_account device_;
  memory_account pinned_;
};

}  // namespace graphline
