#include "framework/run/calibrate/calibration_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/units.hpp"

namespace graphline {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// For one tensor that is read there are to be so many of its size: all are there at a time, on
/// `host` in one memory, what is read, its copy and what is written, three tensors of the transfers
/// from pinned memory and two of those from other memory, each of these half as large; and that is
/// a quarter.
constexpr std::size_t tensors_in_memory = 22;

}  // namespace

calibration_sizes sizes_for(const device_properties& device) {
  const bool gpu = device.backend != "host";
  calibration_sizes sizes;
  sizes.memory_bytes = (gpu ? 1024 : 512) * mebibyte;
  sizes.transfer_bytes = 256 * mebibyte;
  if (device.memory_bytes > 0) {
    const auto most = static_cast<std::size_t>(device.memory_bytes / tensors_in_memory);
    sizes.memory_bytes = std::min(sizes.memory_bytes, most);
    sizes.transfer_bytes = std::min(sizes.transfer_bytes, most / 2);
  }
  sizes.side = gpu ? 256 : 32;
  sizes.matrix = gpu ? 8192 : 2048;
  sizes.time_each = gpu ? 100'000'000 : 500'000'000;
  return sizes;
}

std::string doubt_of_caches(std::size_t bytes, const device_properties& device) {
  constexpr std::size_t enough = 128 * mebibyte;
  if (bytes >= enough) return {};
  return fmt::format(
      "for lack of memory ({} in all) bandwidths were measured on {}, which caches may hold: they "
      "can be too high; calibrate again where {} are free",
      format_bytes(device.memory_bytes), format_bytes(bytes),
      format_bytes(tensors_in_memory * enough));
}

calibration_sizes halved(calibration_sizes sizes) {
  sizes.memory_bytes /= 2;
  sizes.transfer_bytes /= 2;
  sizes.side /= 2;
  sizes.matrix /= 2;
  return sizes;
}

}  // namespace graphline
