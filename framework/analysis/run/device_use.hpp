#pragma once

#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns for each of the run's `devices` the part of the time from the first frame's begin to the
/// last one's end in which it worked on a stage, or had work, if it does not report busy times.
/// Empty without stage times.
std::vector<std::optional<double>> busy_shares(const run_record& record);

}  // namespace graphline
