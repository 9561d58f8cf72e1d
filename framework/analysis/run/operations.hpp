#pragma once

#include <string>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What the traced runs of a stage tell of one of its operations.
struct operation_summary {
  std::string name;
  double calls = 0;          ///< per frame
  nanoseconds median = 0;    ///< of one call; the lower of two in the middle
  nanoseconds together = 0;  ///< of all calls in a frame: the median over the runs
};

/// In the record's order.
std::vector<operation_summary> operations_of(const stage_record& stage);

}  // namespace graphline
