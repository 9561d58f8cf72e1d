#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/record/calibration_record.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Reads the saved calibration of a device.
/// @throws input_error with the remedy if it is missing or unreadable
calibration_record saved_calibration(const device_properties& device);

/// Converts a calibration to its form in results. Adds the reasons why it may be stale.
calibration as_held(const calibration_record& saved, const device_properties& device,
                    const std::vector<std::pair<std::string, std::string>>& environment);

/// Returns the saved calibration of a device, converted by `as_held`; empty if there is none. Adds
/// a warning with the remedy if the file is unreadable or the calibration, though returned, may be
/// stale.
std::optional<calibration> calibration_for(
    const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::vector<std::string>& warnings);

/// Adds the saved calibrations of a run's devices to its record, as `calibration_for` does.
void add_calibrations(run_record& record);

/// Returns the saved calibration of an experiment's device. Empty if there are no trials, or if
/// their numbers of compute threads differ.
std::optional<calibration> calibration_for(const experiment_record& record,
                                           std::vector<std::string>& warnings);

}  // namespace graphline
