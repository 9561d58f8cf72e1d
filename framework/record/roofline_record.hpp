#pragma once

#include "framework/record/run_record.hpp"

namespace graphline {

/// Two runs of one pipeline to hold against the ceilings of their device.
struct roofline_record {
  run_record stages;  ///< timed by event: its times are those that count
  run_record layers;  ///< timed by layers, for the times of parts
};

}  // namespace graphline
