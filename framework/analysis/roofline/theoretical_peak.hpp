#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// What a device could do at most by its architecture.
struct theoretical_peak {
  std::string name;             ///< "memory", "float32 cores", "float16 tensor cores"
  std::optional<double> value;  ///< bytes or FLOPs a second; nothing: not known
  std::string formula;          ///< "132 SMs x 128 x 2 x 1.98 GHz", or why it is not known
};

/// Of a GPU from its multiprocessors, units and clocks (NVIDIA's tuning guides and architecture
/// white papers; dense, sums in float32); a processor has none that can be told. `clock_mhz`
/// instead of the highest clock the device states.
std::vector<theoretical_peak> theoretical_peaks(const device_properties& device,
                                                std::optional<double> clock_mhz = {});

}  // namespace graphline
