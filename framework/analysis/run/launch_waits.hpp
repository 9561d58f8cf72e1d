#pragma once

#include <optional>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns a finding if the frames' stamps show that the host enqueues too slowly.
///
/// - "device_waits_for_host": for at least 5 % of the frames' time, the device was idle while the
///   host enqueued a stage whose dependencies were complete.
/// - "device_time_may_hold_waits" takes precedence for a device that does not report busy time. The
///   host enqueued a stage for most of the time between the stage's events.
/// Both name the most affected stage.
std::optional<finding> launch_finding(const run_record& record);

}  // namespace graphline
