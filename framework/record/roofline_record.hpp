#pragma once

#include "framework/record/run_record.hpp"

namespace graphline {

/// One pipeline run twice in a process, to be held against the roofline of its device.
struct roofline_record {
  run_record stages;  ///< under `timing: event`, with the calibration
  run_record layers;  ///< under `timing: layers`, for the times of the stages' parts
};

}  // namespace graphline
