#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Describes each disturbance of a run in a few words: standstills of the process, CPU quotas, time
/// taken by the hypervisor, other processes on the cores or the device, and clocks that dropped or
/// were throttled. Ignores small amounts. Names the frames of `frames` that a standstill delayed.
std::vector<std::string> disturbances_of(const conditions_record& conditions,
                                         std::span<const frame_record> frames = {});

/// Returns true if the process stood still during the run.
bool stood_still(const run_record& record);

/// Returns the indices of frames that were due or in flight during the standstill, ascending.
std::vector<std::size_t> frames_held_up(std::span<const frame_record> frames,
                                        const standstill_record& by);

/// Returns the indices of frames that the run's standstills delayed, and of frames that then waited
/// for the slots of delayed frames.
std::set<std::size_t> frames_held_up(const run_record& record);

/// Returns the run's settings, frames and load without the frames of `frames_held_up`. Also omits
/// dropped and unfinished frames that became due while such a frame was due or in flight.
run_record without_held_up(const run_record& record);

/// Returns the warning "disturbed", which lists the disturbances in `over` and the threads that
/// waited for a core; empty if there are none.
/// @param one Any of the runs; tells which threads ran stages.
std::optional<finding> disturbance_finding(const std::optional<conditions_record>& over,
                                           const run_record& one);

}  // namespace graphline
