#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/record/calibration_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// What the table of a calibration says beside what was measured.
struct calibration_notes {
  std::optional<double> clock_mhz;  ///< of the theoretical peaks, where it was given
  std::vector<std::string> stale;   ///< why it may no longer hold
  std::string kept_in;              ///< the file; empty where it is not kept
};

/// The ceilings of a device for people: memory and transfers, arithmetic, costs of the host, each
/// with its spread and, of a GPU, what it could do in theory; then knees, and how each was
/// measured.
std::string calibration_table(const calibration_record& record, const calibration_notes& notes = {},
                              const look& as = {});

}  // namespace graphline
