#pragma once

#include <optional>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Finds out from the frames' stamps whether the host enqueues too slowly; empty if it does not.
///
/// "device_waits_for_host": for at least 5 % of a frame, a stage was being enqueued whose
/// dependencies had completed, and the device was idle. For a device that does not report busy
/// time, "device_time_may_hold_waits" takes precedence: a stage was being enqueued for most of the
/// time between its events. Both name the most affected stage.
std::optional<finding> launch_finding(const run_record& record);

}  // namespace graphline
