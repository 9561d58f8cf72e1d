#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/record/calibration_record.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Reads the saved calibration of a device.
/// @throws input_error with the remedy if there is none or it cannot be read
calibration_record saved_calibration(const device_properties& device);

/// Returns a calibration as stored in results, with the reasons why it may be stale.
calibration as_held(const calibration_record& saved, const device_properties& device,
                    const std::vector<std::pair<std::string, std::string>>& environment);

/// Returns the saved calibration of a device as stored in results; empty if there is none. Adds a
/// warning with the remedy if it may be stale (it is used anyway) or cannot be read.
std::optional<calibration> calibration_for(
    const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::vector<std::string>& warnings);

/// Returns the same for the device of an experiment; empty if there are no trials or they differ in
/// compute threads.
std::optional<calibration> calibration_for(const experiment_record& record,
                                           std::vector<std::string>& warnings);

}  // namespace graphline
