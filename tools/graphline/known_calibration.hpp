#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/record/calibration_record.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// What 'graphline calibrate' has kept of a device. Throws an `input_error` with what to do where
/// there is nothing, or nothing that can be read.
calibration_record kept_calibration(const device_properties& device);

/// A calibration as results hold it, with why it may no longer hold for the device as it is now.
calibration as_held(const calibration_record& kept, const device_properties& device,
                    const std::vector<std::pair<std::string, std::string>>& environment);

/// What 'graphline calibrate' has kept of a device, as results hold it; nothing where it has not
/// measured it. One that may no longer hold is used all the same. That, and what is kept but cannot
/// be read, is added to `warnings` with what to do.
std::optional<calibration> calibration_for(
    const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::vector<std::string>& warnings);

/// The same for the device that all trials of an experiment ran on; nothing where they differ in
/// its compute threads, or there are none.
std::optional<calibration> calibration_for(const experiment_record& record,
                                           std::vector<std::string>& warnings);

}  // namespace graphline
