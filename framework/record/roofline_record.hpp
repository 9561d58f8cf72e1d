#pragma once

#include "framework/record/run_record.hpp"

namespace graphline {

/// One pipeline run twice in a process, to be held against the roofline of its device.
struct roofline_record {
  run_record stages;  ///< under `timing: event`, with the calibration
  /// Under `timing: layers`, for the times of the stages' parts; without frames where no stage has
  /// any, and where the first run ended early.
  run_record layers;
};

}  // namespace graphline
