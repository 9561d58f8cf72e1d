#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/run/calibrate/ceiling_measurement.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

struct calibration_options {
  const stop_request* stop = nullptr;
  /// Told before each measurement: what, how many are done and of how many.
  std::function<void(const std::string& what, std::int64_t done, std::int64_t total)> on_progress;
  std::optional<calibration_sizes> sizes = {};  ///< default: what suits the device
};

/// Measures what a device can do at best: bandwidths of its memory and to the host, rates of a
/// large convolution and a large matrix product in each precision it has, and what it costs the
/// host to launch, record and wait. Compute and memory run as pipelines of the registry's own
/// kinds, timed by events as any stage is. What cannot be measured on a device is left out with a
/// warning. Throws `run_error` when the device fails. Once a stop is requested, what was measured
/// so far comes back.
calibration_record calibrate(const stage_registry& kinds, device& d,
                             const calibration_options& options = {});

}  // namespace graphline
