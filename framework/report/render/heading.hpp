#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

// Common texts of headings and tables.

/// "host: NAME (1 compute thread)".
std::string device_of(const device_properties& device);

/// "two_models on host: NAME (1 compute thread)".
std::string subject_of(const run_record& record);

/// "async, graphs stage, 1 frame in flight, wait block", with priorities if off and arrivals if
/// scheduled. `cores`: as in `workers_of`.
std::string way_of(const settings& run, int cores = 0);

/// "workers=4", or "workers=2 (one per free core)" if the default applies; empty without workers or
/// if neither is known.
std::string workers_of(const settings& run, int cores);

/// "constant 30 frame/s"; "closed".
std::string arrival_of(const settings& run);

/// "batch=1, side=112"; empty without parameters.
std::string parameters_of(const std::vector<std::pair<std::string, std::string>>& parameters);

/// "1 frame", "45 frames".
std::string counted(std::int64_t count, std::string_view noun);

/// "at most 2 frames waited at once", with those outside a full queue.
std::string most_waited(const run_record& record);

/// A measure's name in tables: "device", "synchronized".
std::string_view short_name(measure what) noexcept;

}  // namespace graphline
