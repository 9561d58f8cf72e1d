#pragma once

#include "framework/record/calibration_record.hpp"

namespace graphline::samples {

/// A calibration with round figures: memory 1 TB/s (read, 1.05 at best; copies 0.9), pinned links
/// 10 GB/s in and 8 GB/s out, convolutions 50 TFLOP/s and products 40 in float32 (5 % more at
/// best), a launch of 5 us.
calibration round_calibration();

}  // namespace graphline::samples
