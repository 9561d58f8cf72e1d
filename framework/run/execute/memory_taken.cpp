#include "framework/run/execute/memory_taken.hpp"

#include <cstddef>

namespace graphline {

memory_usage taken_since(const memory_usage& before, const memory_usage& after) {
  const auto beyond = [](std::size_t more, std::size_t less) {
    return more > less ? more - less : 0;
  };
  memory_usage taken;
  taken.device_bytes = beyond(after.device_bytes, before.device_bytes);
  taken.pinned_bytes = beyond(after.pinned_bytes, before.pinned_bytes);
  taken.device_peak_bytes = taken.device_bytes;
  taken.pinned_peak_bytes = taken.pinned_bytes;
  if (after.device_peak_bytes > before.device_peak_bytes) {
    taken.device_peak_bytes = beyond(after.device_peak_bytes, before.device_bytes);
  }
  if (after.pinned_peak_bytes > before.pinned_peak_bytes) {
    taken.pinned_peak_bytes = beyond(after.pinned_peak_bytes, before.pinned_bytes);
  }
  taken.allocations = after.allocations - before.allocations;
  return taken;
}

}  // namespace graphline
