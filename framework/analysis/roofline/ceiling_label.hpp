#pragma once

#include <string>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// What people call a ceiling: "memory, read"; "convolution, float16".
std::string label_of(ceiling what, precision arithmetic);

}  // namespace graphline
