#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/record/calibration_record.hpp"

namespace graphline {

// Public figures of GPUs, in the form of a calibration, from the files in framework/device/known/.

/// Returns the names of these files, without ".json".
std::vector<std::string> known_device_names();

/// Returns the figures of a device by the name of its file or by the vendor's name; empty if there
/// are none.
std::optional<calibration_record> known_device(std::string_view name);

}  // namespace graphline
