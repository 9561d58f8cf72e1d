#include "framework/device/host/host_memory.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/units.hpp"

namespace graphline {

memory host_memory::allocate(account& to, std::size_t bytes, const char* kind) {
  if (bytes == 0) return {};
  // Asked first, because the system promises more than it has and ends the program later.
  const std::uint64_t available = available_memory();
  void* data = nullptr;
  if (bytes <= available) {
    data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  if (data == nullptr) {
    throw run_error(
        fmt::format("cannot allocate {} of {} memory on the host device: {} is available; use "
                    "smaller tensors or fewer frames in flight",
                    format_bytes(bytes), kind, format_bytes(available)));
  }
  std::memset(data, unwritten, bytes);

  const std::size_t in_use = to.bytes.fetch_add(bytes) + bytes;
  std::size_t peak = to.peak.load();
  while (peak < in_use && !to.peak.compare_exchange_weak(peak, in_use)) {
  }
  allocations_.fetch_add(1);
  return memory(data, bytes, &to, &host_memory::release);
}

void host_memory::release(void* from, void* data, std::size_t bytes) noexcept {
  static_cast<account*>(from)->bytes.fetch_sub(bytes);
  std::free(data);
}

memory_usage host_memory::usage() const noexcept {
  return {.device_bytes = device_.bytes.load(),
          .device_peak_bytes = device_.peak.load(),
          .pinned_bytes = pinned_.bytes.load(),
          .pinned_peak_bytes = pinned_.peak.load(),
          .allocations = allocations_.load()};
}

}  // namespace graphline
