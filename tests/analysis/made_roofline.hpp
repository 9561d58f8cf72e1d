#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/run_record.hpp"
#include "tests/analysis/made_run.hpp"

namespace graphline::samples {

/// A calibration with round values: memory 1 TB/s (read; 1.05 at best; copies 0.9), pinned
/// transfers 10 GB/s to and 8 GB/s from the device, convolutions 50 TFLOP/s and matrix products 40
/// in float32 (5 % more at best), a launch of 5 us.
calibration round_calibration();

/// A cost with all bytes read.
cost_record work(std::int64_t flops, std::int64_t bytes, precision arithmetic = precision::float32);

/// Five consecutive frames of device stages with these times on one stream, without costs. The
/// calibration is `round_calibration()`.
made_run one_after_another(const std::vector<std::pair<const char*, nanoseconds>>& stages,
                           timing_method timing = timing_method::event);

/// Stamps of five frames of equal length.
std::vector<stamp_pair> five_times(nanoseconds length);

/// One stage, "net", of 1 ms with two parts: "0.conv2d", compute bound (0.4 ms), and "1.gelu",
/// memory bound (0.1 ms).
made_run in_two_parts();

}  // namespace graphline::samples
