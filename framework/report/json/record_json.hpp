#pragma once

#include <cstddef>
#include <vector>

#include "framework/report/json/json_part.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {

/// A record without loss, every stamp in whole nanoseconds. The columns of a stage are lists in the
/// order of the frames; names, and texts that come as pairs, are in their order.
nlohmann::ordered_json record_json(const record_view& record);

/// The same of a part of a record: a trial, `settings`, `device_properties`,
/// `experiment_settings`, pairs to compare.
template <class Part>
nlohmann::ordered_json part_json(const Part& part);

/// The way back, of a kind in the order of `result_kinds`. Throws an `input_error` that says what
/// is missing or holds something else than it should: a time of years, one before that at which it
/// began, an index of what there is not. A calibration's theoretical peaks are made again.
any_record record_from(std::size_t kind, const json_part& from);

trial_record trial_from(const json_part& from);

/// Refuses a trial that is of none of the configurations, which have so many pipelines each.
void check_trial(const json_part& from, const trial_record& trial,
                 const std::vector<std::size_t>& members);

}  // namespace graphline
