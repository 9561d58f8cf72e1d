#pragma once

#include <cstdint>

#include "framework/device/device.hpp"

namespace graphline {

/// Cores this program may use, at least 1.
int available_cores() noexcept;

/// Bytes that can be allocated without swapping (MemAvailable of /proc/meminfo).
std::uint64_t available_memory();

/// The compute threads of `host` when nobody says: half the cores, at least one, so that the other
/// half is left to the CPU stages.
int default_compute_threads() noexcept;

/// This machine as a device with that many compute threads.
device_properties host_properties(int compute_threads);

}  // namespace graphline
