#pragma once

#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// One pipeline run twice in a process, to be held against the roofline of its device.
struct roofline_record {
  run_record stages;  ///< under `timing: event`, with the calibration
  /// Under `timing: layers`, for the times of the stages' parts; without frames where no stage has
  /// any, and where the first run ended early.
  run_record layers;
};

template <class Archive>
void fields(Archive& a, part_of_record<roofline_record> auto& of) {
  a.value("stages", of.stages);
  a.value("layers", of.layers);
}

}  // namespace graphline
