#pragma once

#include <cstddef>

namespace fake_cuda {

/// Where a range of memory lies.
enum class place {
  device,
  pinned,
  elsewhere,     ///< the host's own memory, or freed
  out_of_range,  ///< begins in a block and goes beyond its end
};

// All guarded by the machine's mutex.

place place_of(const void* data, std::size_t bytes);

std::size_t device_capacity();
int count_device_blocks();
int count_pinned_blocks();
void release_memory_of(int device);

/// Also sets the capacity back.
void release_all_memory();

}  // namespace fake_cuda
