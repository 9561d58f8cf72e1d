#pragma once

#include <string>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// What people call a ceiling: "memory, read"; "convolution, float16". `brief`: where there is
/// little room, "read", "conv, float16".
std::string label_of(ceiling what, precision arithmetic, bool brief = false);

/// "4.21 TB/s", "51.4 TFLOP/s", "2.53 us" for bytes a second, FLOPs a second and nanoseconds.
std::string in_units(double value, ceiling_unit unit);

}  // namespace graphline
