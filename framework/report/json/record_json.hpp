#pragma once

#include <cstddef>
#include <vector>

#include "framework/report/json/json_part.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {

/// Returns a record without loss, with stamps in nanoseconds. Columns of a stage are in frame
/// order.
nlohmann::ordered_json record_json(const record_view& record);

/// Returns a part of a record: a trial, `settings`, `device_properties`, `experiment_settings`, or
/// the pairs to compare.
template <class Part>
nlohmann::ordered_json part_json(const Part& part);

/// Reads a record. `kind`: index into `result_kinds`.
/// @throws input_error that names the missing or wrong value, for example an index out of range
any_record record_from(std::size_t kind, const json_part& from);

trial_record trial_from(const json_part& from);

/// @throws input_error if the configuration of a trial is unknown or has a different number
/// of pipelines. `members`: number of pipelines of each configuration.
void check_trial(const json_part& from, const trial_record& trial,
                 const std::vector<std::size_t>& members);

}  // namespace graphline
