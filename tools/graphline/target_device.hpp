#pragma once

#include <string>

#include "framework/campaign/predict/other_device.hpp"

namespace graphline {

/// Returns the device that `predict --on` names: a known device or the file of a calibration.
///
/// Public figures are compared with public figures of the source's device, measured ceilings with
/// its calibration: the one in the source, else the saved one.
/// @throws input_error if there is no such device, or no ceilings of the source's device of the
/// same kind, with the remedy
other_device target_device(const std::string& on, const run_record& source);

}  // namespace graphline
