#pragma once

#include <string>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The first line of `write_run_csv`.
inline constexpr std::string_view csv_header =
    "frame,stage,on,measure,begin_ns,end_ns,duration_ns\n";

/// A name as one field, quoted as in RFC 4180 if needed. Control characters and invalid UTF-8
/// become
/// "?". Text that a spreadsheet would take for a formula because it begins with "=", "+", "-" or
/// "@" gets a "'" in front; numbers do not.
std::string csv_field(std::string_view name);

/// The stamps of frames and stages in nanoseconds since the run's epoch. Each frame (from 0) has a
/// row `end_to_end` without a stage that begins at its due time, on a schedule also a row
/// `queue_wait`, then a row for each stage and measure, and under `layers` a row `part_time` for
/// each part, with "STAGE/PART" as stage. Rows for `dropped` and `unfinished` frames follow; they
/// begin at the due time and have no number or end. Quoted as in RFC 4180; lines end in LF.
void write_run_csv(text_sink& to, const run_record& record);

/// The stamps of every trial, in the order in which trials ran. Each row begins with these columns,
/// followed by those of `write_run_csv`: id and name of the configuration; name of its pipeline;
/// each varied setting or parameter; block and trial (from 0); and whether the trial counts,
/// failed, was in a disturbed block, or ran beside other work. A varied column has the name used in
/// the experiment, or "params.NAME" if that is taken; it is empty if not set.
void write_experiment_csv(text_sink& to, const experiment_record& record);

}  // namespace graphline
