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

/// A name as one field, quoted as in RFC 4180 where it must be. Control characters and bytes that
/// are not UTF-8 become "?". Text that a spreadsheet would take for a formula, by beginning with
/// "=",
/// "+", "-" or "@", gets a "'" in front; numbers do not.
std::string csv_field(std::string_view name);

/// The stamps of frames and stages: for each frame (from 0) a row `end_to_end` that names no stage
/// and begins when the frame was due, likewise one for `queue_wait` where frames arrive on a
/// schedule, then a row for each stage and measure, and under `layers` one for each part of a
/// stage, with "STAGE/PART" in place of the stage and the measure `part_time`. Then, without a
/// number or an end, a row for each frame that was `dropped` or left `unfinished`, which begins
/// when it was due. Nanoseconds since the run's epoch. Quoted as in RFC 4180, lines end in LF;
/// UTF-8, with U+FFFD for bytes of names that are not.
void write_run_csv(text_sink& to, const run_record& record);

/// The stamps of every trial, in the order in which trials ran: the rows of `write_run_csv`, each
/// after the id and the name of the configuration, that of the pipeline in it, a column for each
/// setting or parameter that varies (as the experiment names it, with "params." before the name of
/// a column that is there anyway; empty where a configuration does not set it), the block and the
/// trial (both from 0), and whether the trial counts in figures, failed, was in a block in which
/// the machine was disturbed, and had something else at work beside it.
void write_experiment_csv(text_sink& to, const experiment_record& record);

}  // namespace graphline
