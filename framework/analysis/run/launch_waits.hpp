#pragma once

#include <optional>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Whether the host enqueues too slowly, by the stamps of each frame; nothing where it does not.
///
/// "device_waits_for_host": while a stage was being enqueued, all that it waits for had ended and
/// the device had no other work, for 5 % of a frame and more. Where the device does not tell its
/// busy time, first "device_time_may_hold_waits": a stage was still being enqueued for most of the
/// time between its events. Both name the stage that it is most true of.
std::optional<finding> launch_finding(const run_record& record);

}  // namespace graphline
