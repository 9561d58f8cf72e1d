#pragma once

#include <string>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The first line that `write_run_csv` writes.
inline constexpr std::string_view csv_header =
    "frame,stage,on,measure,begin_ns,end_ns,duration_ns\n";

/// Returns a name as one field, quoted as in RFC 4180 if needed. Control characters and invalid
/// UTF-8 become "?". Text that begins with "=", "+", "-" or "@" gets a "'" in front, since a
/// spreadsheet would take it for a formula; numbers do not.
std::string csv_field(std::string_view name);

/// Writes the stamps of frames and stages in nanoseconds since the run's epoch. Each frame (from 0)
/// has a row `end_to_end` without a stage, which begins at its due time. A row `queue_wait` follows
/// if frames arrive on a schedule. Then come a row for each stage and measure, and under `layers` a
/// row `part_time` for each part, with "STAGE/PART" as stage. Rows of `dropped` and `unfinished`
/// frames come last; they begin at the due time, without number and end. Lines end in LF.
void write_run_csv(text_sink& to, const run_record& record);

/// Writes the stamps of every trial, in the order in which the trials ran. Each row begins with id
/// and name of the configuration, the name of its pipeline, and each varied setting or parameter.
/// Block and trial (from 0) follow, then whether the trial counts, failed, was in a disturbed
/// block, or ran beside other work. The columns of `write_run_csv` come last. A varied column has
/// the name used in the experiment, or "params.NAME" if that is taken. Its field is empty if not
/// set.
void write_experiment_csv(text_sink& to, const experiment_record& record);

}  // namespace graphline
