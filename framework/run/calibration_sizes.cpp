#include "framework/run/calibration_sizes.hpp"

#include <algorithm>

namespace graphline {

calibration_sizes sizes_for(const device_properties& device) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const bool gpu = device.backend != "host";
  calibration_sizes sizes;
  sizes.memory_bytes = (gpu ? 1024 : 512) * mebibyte;
  sizes.transfer_bytes = 256 * mebibyte;
  if (device.memory_bytes > 0) {
    // All are there at a time, on `host` in one memory: what is read and its copy, three tensors of
    // the transfers from pinned memory and two of those from other memory, each of these half as
    // large.
    const auto most = static_cast<std::size_t>(device.memory_bytes / 4);
    sizes.memory_bytes = std::min(sizes.memory_bytes, most * 2 / 9);
    sizes.transfer_bytes = std::min(sizes.transfer_bytes, most / 9);
  }
  sizes.side = gpu ? 256 : 32;
  sizes.matrix = gpu ? 8192 : 2048;
  sizes.time_each = gpu ? 100'000'000 : 500'000'000;
  return sizes;
}

calibration_sizes halved(calibration_sizes sizes) {
  sizes.memory_bytes /= 2;
  sizes.transfer_bytes /= 2;
  sizes.side /= 2;
  sizes.matrix /= 2;
  return sizes;
}

}  // namespace graphline
