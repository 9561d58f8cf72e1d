#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns "host: NAME (1 compute thread)".
std::string device_of(const device_properties& device);

/// Returns "two_models on host: NAME (1 compute thread)".
std::string subject_of(const run_record& record);

/// Returns "async, graphs=stage, 1 frame in flight, wait=block". Adds workers, priorities if they
/// are off, `special_settings`, and arrivals if they are scheduled. `cores`: as in `workers_of`.
std::string way_of(const settings& run, int cores = 0);

/// Returns key and text, such as "window=2", of each setting that headings mention only if it
/// differs from the default: streams, policy, window and realtime.
std::vector<std::pair<std::string, std::string>> special_settings(const settings& run);

/// Returns "workers=4", or "workers=2 (one per free core)" if `cores` sets the number. Empty if the
/// run has no workers or their number is unknown.
std::string workers_of(const settings& run, int cores);

/// Returns "constant 30 frame/s" or "closed".
std::string arrival_of(const settings& run);

/// Returns "batch=1, side=112"; empty without parameters.
std::string parameters_of(const std::vector<std::pair<std::string, std::string>>& parameters);

/// Returns "1 frame" or "45 frames".
std::string counted(std::int64_t count, std::string_view noun);

/// Returns "predicted from 100 frames of run.json: serial, graphs=stage, 1 frame in flight, ...".
std::string predicted_from(const prediction_record& of);

/// Of a campaign in virtual time, unlike of a predicted run.
inline constexpr const char* what_intervals_omit =
    "intervals and verdicts cover the variation within the sources, not the error of the model nor "
    "how further runs differ";

/// Returns "at most 2 frames waited at once". Adds how many were outside a full queue, if any were.
std::string most_waited(const run_record& record);

/// Returns the name of a measure for tables: "device", "synchronized".
std::string_view short_name(measure what) noexcept;

}  // namespace graphline
