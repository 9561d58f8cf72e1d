#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What was known of the machine over the measured frames, as name and text.
std::vector<std::pair<std::string, std::string>> facts_of(const conditions_record& conditions);

/// What kept a run from having the machine to itself, each in a few words: time that a hypervisor
/// took, other processes on the cores that it could use or on its device, clocks that dropped or
/// were held down. Below the resolution of the system's counters nothing counts. Empty: nothing is
/// known to have disturbed it.
std::vector<std::string> disturbances_of(const conditions_record& conditions);

/// These as one warning, "disturbed (machine noise): ..."; nothing where there are none.
std::optional<std::string> disturbance_warning(const run_record& record);

}  // namespace graphline
