#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/run_record.hpp"
#include "tests/analysis/made_run.hpp"

namespace graphline::samples {

/// Returns a calibration with round values. Memory is read at 1 TB/s (1.05 at best) and copied at
/// 0.9 TB/s. Pinned transfers reach 10 GB/s to the device and 8 GB/s from it. In float32,
/// convolutions reach 50 TFLOP/s and matrix products 40 (5 % more at best). A launch takes 5 us.
calibration round_calibration();

/// Returns a cost whose bytes are all read.
cost_record work(std::int64_t flops, std::int64_t bytes, precision arithmetic = precision::float32);

/// Creates five consecutive frames of device stages with these times on one stream, without costs.
/// The calibration is `round_calibration()`.
made_run one_after_another(const std::vector<std::pair<const char*, nanoseconds>>& stages,
                           timing_method timing = timing_method::event);

/// Returns the stamps of five frames of equal length.
std::vector<stamp_pair> five_times(nanoseconds length);

/// Creates a run of one stage, "net", which takes 1 ms. It has two parts: "0.conv2d", compute bound
/// (0.4 ms), and "1.gelu", memory bound (0.1 ms).
made_run in_two_parts();

}  // namespace graphline::samples
