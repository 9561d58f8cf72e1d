#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// The trace of a run as a parser reads it.
nlohmann::ordered_json read_trace(const run_record& record);

/// All events of a phase, in the order of the file.
std::vector<nlohmann::ordered_json> events_of(const nlohmann::ordered_json& trace,
                                              std::string_view phase);

/// Complete events of that name, in the order of the file.
std::vector<nlohmann::ordered_json> slices_named(const nlohmann::ordered_json& trace,
                                                 std::string_view name);

/// Microseconds with three decimals as nanoseconds.
nanoseconds ns_of(const nlohmann::ordered_json& microseconds);

/// Whether of any two slices of a track one holds the other or ends before it begins.
bool nested(const nlohmann::ordered_json& trace);

/// Whether an arrow's end lies on a slice of its track.
bool within_a_slice(const nlohmann::ordered_json& trace, const nlohmann::ordered_json& arrow);

}  // namespace graphline::samples
