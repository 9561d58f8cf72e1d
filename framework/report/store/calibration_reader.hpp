#pragma once

#include <string>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// Reads a file `graphline.calibration/1` of at most 1 GiB. Throws an `input_error` that names the
/// file and says what is wrong with it: line and column where it is no JSON, what it is where it is
/// something else or of another version, which key is missing or holds what cannot be.
calibration_record read_calibration(const std::string& path);

}  // namespace graphline
