#pragma once

#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Two runs of one pipeline in the same process, for comparison with the device's roofline.
struct roofline_record {
  run_record stages;  ///< with `timing: event` and the calibration
  /// Run with `timing: layers`, for the times of parts. Contains no frames if no stage has parts or
  /// the first run ended early.
  run_record layers;
};

template <class Archive>
void fields(Archive& a, part_of_record<roofline_record> auto& of) {
  a.value("stages", of.stages);
  a.value("layers", of.layers);
}

}  // namespace graphline
