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

/// What kept a run from having the machine to itself, each in a few words: time that a hypervisor
/// took, other processes on the cores that it could use or on its device, clocks that dropped or
/// were held down. Below the resolution of the system's counters nothing counts. Empty: nothing is
/// known to have disturbed it. Of times in which the process stood still, the `frames` are named
/// that it held up.
std::vector<std::string> disturbances_of(const conditions_record& conditions,
                                         std::span<const frame_record> frames = {});

/// Whether the process stood still while the run's frames ran: what it measured is not the
/// pipeline's.
bool stood_still(const run_record& record);

/// The frames that this held up, ascending: due, or under way, meanwhile.
std::vector<std::size_t> frames_held_up(std::span<const frame_record> frames,
                                        const standstill_record& by);

/// The frames that the run's standstills held up, and those that then waited for these to make
/// room.
std::set<std::size_t> frames_held_up(const run_record& record);

/// The settings, frames and load of a run, without frames of `frames_held_up` and those dropped
/// meanwhile; nothing of its stages.
run_record without_held_up(const run_record& record);

/// These over one or several runs of one pipeline as one warning, "disturbed", with the threads
/// that waited for a core; nothing where there are none. `one` of the runs tells which thread ran
/// stages.
std::optional<finding> disturbance_finding(const std::optional<conditions_record>& over,
                                           const run_record& one);

}  // namespace graphline
