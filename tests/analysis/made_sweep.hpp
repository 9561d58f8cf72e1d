#pragma once

#include <string>

#include "framework/record/calibration_record.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline::samples {

/// Creates six blocks of a convolution with 64 input and output channels on 48x48 under `event`,
/// with kernels of 1, 3, 5, 7, 9 and 11. It moves 1.2 MB and the weights, computes 2 * 64 * 64 * 48
/// * 48 * kernel^2 FLOPs, and takes 160 us plus 6 us per MFLOP.
experiment_record made_sweep();

/// Returns a calibration with 10 GB/s from memory and 200 GFLOP/s, so a ridge point of 20 FLOP/B.
calibration laptop_calibration();

}  // namespace graphline::samples
