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

/// The way back, of each kind of result and of a trial. Throws an `input_error` that says what is
/// missing or holds something else than it should: a time of years, one before that at which it
/// began, an index of what there is not. A calibration is the result file itself, of which the
/// theoretical peaks are made again.
template <class Record>
Record record_from(const json_part& from);

/// Refuses a trial that is of none of the configurations, which have so many pipelines each.
void check_trial(const json_part& from, const trial_record& trial,
                 const std::vector<std::size_t>& members);

}  // namespace graphline
