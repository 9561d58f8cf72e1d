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

/// Describes what disturbed a run, a few words each: hypervisor steal, other processes on its cores
/// or device, clocks that dropped or were throttled. Ignores amounts below the resolution of the
/// system's counters. Names those of `frames` that a standstill of the process delayed.
std::vector<std::string> disturbances_of(const conditions_record& conditions,
                                         std::span<const frame_record> frames = {});

/// Whether the process stood still during the run, so that measurements do not represent the
/// pipeline.
bool stood_still(const run_record& record);

/// Frames that the standstill delayed, ascending: due or in flight during it.
std::vector<std::size_t> frames_held_up(std::span<const frame_record> frames,
                                        const standstill_record& by);

/// Frames that the run's standstills delayed, and frames that then waited for their slots.
std::set<std::size_t> frames_held_up(const run_record& record);

/// Returns the run's settings, frames and load without the frames of `frames_held_up` and without
/// frames dropped at these times. The result has no stages.
run_record without_held_up(const run_record& record);

/// Combines the disturbances of runs of one pipeline into a warning, "disturbed", including threads
/// that waited for a core; empty if there are none.
/// @param one Any of the runs; identifies the threads that ran stages.
std::optional<finding> disturbance_finding(const std::optional<conditions_record>& over,
                                           const run_record& one);

}  // namespace graphline
