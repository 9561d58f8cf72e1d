#pragma once

#include <cstddef>
#include <vector>

#include "framework/record/calibration_record.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// A record without loss, every stamp in whole nanoseconds. The columns of a stage are lists in the
/// order of the frames; names, and texts that come as pairs, are in their order. Of a run, a trial,
/// an experiment, a roofline, a search for the highest rate; of how a pipeline is run (`settings`),
/// how an experiment is, and what it compares.
template <class Record>
nlohmann::ordered_json record_json(const Record& record);

/// The way back. Throws an `input_error` that says what is missing or holds something else than it
/// should: a time of years, one before that at which it began, an index of what there is not.
run_record run_from(const json_part& from);
experiment_record experiment_from(const json_part& from);
trial_record trial_from(const json_part& from);
roofline_record roofline_from(const json_part& from);
capacity_record capacity_from(const json_part& from);

/// What a result file `graphline.calibration/1` holds, but for the theoretical peaks, which are
/// made again. Throws an `input_error` that says which key is missing or holds something else than
/// it should.
calibration_record calibration_record_from(const json_part& from);

/// Refuses a trial that is of none of the configurations, which have so many pipelines each.
void check_trial(const json_part& from, const trial_record& trial,
                 const std::vector<std::size_t>& members);

}  // namespace graphline
