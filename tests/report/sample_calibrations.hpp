#pragma once

#include "framework/record/calibration_record.hpp"

namespace graphline::samples {

/// Of one compute thread, float32 only: 9.50 GB/s, 96 GFLOP/s.
calibration_record host_calibration();

/// Of an H200 in four precisions, of which it lacks nothing but a pageable bandwidth.
calibration_record gpu_calibration();

}  // namespace graphline::samples
