#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct theoretical_peak {
  std::string name;             ///< "memory", "float32 cores", "float16 tensor cores"
  std::optional<double> value;  ///< bytes or FLOPs per second; empty if unknown
  std::string formula;          ///< "132 SMs x 128 x 2 x 1.98 GHz", or why the value is unknown
};

/// Computes a GPU's peaks from its multiprocessors, units and clocks, for dense arithmetic with
/// float32 accumulation; empty for other devices.
/// @param clock_mhz Clock to use instead of the highest clock that the device reports.
std::vector<theoretical_peak> theoretical_peaks(const device_properties& device,
                                                std::optional<double> clock_mhz = {});

}  // namespace graphline
