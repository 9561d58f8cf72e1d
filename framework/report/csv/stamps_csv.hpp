#pragma once

#include <string>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The first line that `write_run_csv` writes.
inline constexpr std::string_view csv_header =
    "frame,stage,on,measure,begin_ns,end_ns,duration_ns,rows,ready_ns\n";

/// Returns a name as one field, quoted as in RFC 4180 if needed. Control characters and invalid
/// UTF-8 become "?". If a spreadsheet would treat the text as a formula, the field begins with "'".
std::string csv_field(std::string_view name);

/// Writes the stamps of frames and stages in nanoseconds since the run's epoch, with LF as line
/// end. Each frame, numbered from 0, has a row `end_to_end` from its due time. If frames arrive on
/// a schedule, a row `queue_wait` follows. Then come rows for each stage and measure. Under
/// `layers`, each part has a row `part_time`, whose stage is "STAGE/PART". The last rows are the
/// due times of `dropped` and `unfinished` frames, without frame number and end.
///
/// `ready_ns` of a stage is its `ready_time`; in the row `end_to_end`, it is the frame's begin,
/// which releases its first stages. Empty in other rows and if unknown.
///
/// `rows` is set for stages with `rows`. If a frame did not run a stage, its row has no end and no
/// duration, and `rows` is 0, or empty if the stage was skipped.
void write_run_csv(text_sink& to, const run_record& record);

/// Writes the stamps of every trial, in the order of execution. The columns are:
/// - id and name of the configuration, and name of the pipeline
/// - each varied setting or parameter, as "params.NAME" if NAME is taken; empty if not set
/// - block and trial, numbered from 0
/// - whether the trial counts, failed, was in a disturbed block, or ran beside other work
/// - the columns of `write_run_csv`
void write_experiment_csv(text_sink& to, const experiment_record& record);

}  // namespace graphline
