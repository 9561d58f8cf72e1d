#pragma once

#include <string>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// "4.21 TB/s", "51.4 TFLOP/s", "2.53 us" for bytes a second, FLOPs a second and nanoseconds.
std::string in_units(double value, ceiling_unit unit);

}  // namespace graphline
