#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "stages/network/windows.hpp"

namespace graphline {

/// Means over windows of [planes, height, width], packed. For the pools oneDNN has not: adaptive
/// ones whose sizes do not divide, and average pools whose last window in ceil_mode leaves the
/// padding.
struct windowed_average {
  std::int64_t planes = 0;  ///< batch times channels
  std::int64_t height = 0;  ///< of the input
  std::int64_t width = 0;
  std::vector<window> rows;     ///< per row of the output
  std::vector<window> columns;  ///< per column of the output
};

/// The operation that reads `from` and writes `to`; planes are shared among the compute threads.
std::unique_ptr<host_operation> make_windowed_average(std::string name, windowed_average windows,
                                                      const float* from, float* to);

}  // namespace graphline
