#pragma once

#include <cstddef>
#include <optional>

namespace fake_cuda {

/// Where a range of memory lies.
enum class place {
  device,
  pinned,
  elsewhere,     ///< the host's own memory, or freed
  out_of_range,  ///< begins in a block and goes beyond its end
};

/// While one exists, a device's memory is within reach; at other times whoever touches it ends the
/// process, as on a machine where it is not the host's at all.
class memory_access {
 public:
  explicit memory_access(int device);
  ~memory_access();
  memory_access(const memory_access&) = delete;
  memory_access& operator=(const memory_access&) = delete;

 private:
  int device_;
};

// All that follows is guarded by the machine's mutex.

place place_of(const void* data, std::size_t bytes);

std::size_t device_capacity();
/// The device that an address belongs to, if any.
std::optional<int> device_of(const void* data);

int count_device_blocks();
int count_pinned_blocks();

/// Also sets the capacity back.
void release_all_memory();

}  // namespace fake_cuda
