#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// A run or trial without loss, every stamp in whole nanoseconds, but for the nodes of graphs. The
/// columns of a stage are lists in the order of the frames; names, and texts that come as pairs,
/// are in their order. Bytes that are not UTF-8 become U+FFFD.
void write_record(compact_json& to, const run_record& record);
void write_record(compact_json& to, const trial_record& trial);
void write_record(compact_json& to, const capacity_record& record);
void write_record(compact_json& to, const experiment_record& record);

/// The same as text on one line, without its end.
std::string record_text(const trial_record& trial);

/// The way back. Throws an `input_error` that says what is missing or holds something else than it
/// should: a time of years, one before that at which it began, an index of what there is not.
run_record run_from(const json_part& from);
experiment_record experiment_from(const json_part& from);
trial_record trial_from(const json_part& from);

/// Refuses a trial that is of none of the configurations, which have so many pipelines each.
void check_trial(const json_part& from, const trial_record& trial,
                 const std::vector<std::size_t>& members);
capacity_record capacity_from(const json_part& from);

/// The machine during a run, which is the `conditions` of its record.
conditions_record conditions_from(const json_part& from);

/// How a pipeline is run, `threads` and the seed among it; how an experiment is.
void write_settings(compact_json& to, const settings& run);
void write_settings(compact_json& to, const experiment_settings& how);

void write_pairs(compact_json& to, const std::vector<compared_pair>& pairs);

device_properties device_from(const json_part& from);

/// What is kept of a calibration: bandwidths and rates a second, durations in nanoseconds.
void write_calibration(compact_json& to, const calibration& kept);
calibration calibration_from(const json_part& from);

/// Whether a ceiling can be of this value: reports divide by it.
bool is_ceiling_value(double value) noexcept;

}  // namespace graphline
