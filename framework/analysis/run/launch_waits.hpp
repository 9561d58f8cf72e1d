#pragma once

#include <optional>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Reports if the frames' stamps show that the host enqueues too slowly; empty otherwise.
///
/// "device_waits_for_host": for at least 5 % of the frames' time, the device was idle while the
/// host was enqueueing a stage whose dependencies were complete. For a device that does not report
/// busy time, "device_time_may_hold_waits" takes precedence: the host was enqueueing a stage for
/// most of the time between the stage's events. Both findings name the most affected stage.
std::optional<finding> launch_finding(const run_record& record);

}  // namespace graphline
