#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

// What the tables for people have in common.

/// "host: NAME (1 compute thread)".
std::string device_of(const device_properties& device);

/// "two_models on host: NAME (1 compute thread)".
std::string subject_of(const run_record& record);

/// "async, graphs stage, 1 frame in flight, wait block"; names priorities where they are off, and
/// arrivals where they follow a schedule. `cores`: as `workers_of`.
std::string way_of(const settings& run, int cores = 0);

/// "workers=4", "workers=2 (one per free core)" by the cores for CPU stages where nobody set them;
/// empty without workers, and where neither is known.
std::string workers_of(const settings& run, int cores);

/// "constant 30 frame/s"; "closed".
std::string arrival_of(const settings& run);

/// "batch=1, side=112"; empty without parameters.
std::string parameters_of(const std::vector<std::pair<std::string, std::string>>& parameters);

/// "1 frame", "45 frames".
std::string counted(std::int64_t count, std::string_view noun);

/// "at most 2 frames waited at once"; of more than the queue takes, how many waited outside it.
std::string most_waited(const run_record& record);

/// What people call a measure in a table: "device", "synchronized".
std::string_view short_name(measure what) noexcept;

}  // namespace graphline
