#pragma once

#include <cstddef>

#include "framework/record/roofline_record.hpp"

namespace graphline::samples {

// Made-up runs on devices that were calibrated.

/// The sample pipeline on a processor: `backbone` in two parts near their floors, `noise` on the
/// CPU, `head` below its floor, since its weights stay in a cache.
roofline_record calibrated_two_models();

/// A GPU in several precisions: an upload, a `backbone` of `layers` layers in float16, a `product`
/// bound by memory and far from its floor, a `head` in TF32 bound by launches, a CPU stage. The
/// calibration is out of date.
roofline_record calibrated_gpu(std::size_t layers = 12);

/// Names that a page must show as they are.
roofline_record calibrated_odd_names();

/// Two runs on a device without a calibration.
roofline_record uncalibrated();

/// Interrupted before the first frame.
roofline_record calibrated_without_frames();

}  // namespace graphline::samples
