#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The first line of `write_run_csv`.
inline constexpr std::string_view csv_header =
    "frame,stage,on,measure,begin_ns,end_ns,duration_ns\n";

/// A name as one field, quoted as in RFC 4180 where it must be; with U+FFFD for bytes that are not
/// UTF-8.
std::string csv_field(std::string_view name);

/// The stamps of frames and stages: for each frame (from 0) a row `end_to_end` that names no stage
/// and begins when the frame was due, likewise one for `queue_wait` where frames arrive on a
/// schedule, then a row for each stage and measure, and under `layers` one for each part of a
/// stage, with "STAGE/PART" in place of the stage and the measure `part_time`. Nanoseconds since
/// the run's epoch. Quoted as in RFC 4180, lines end in LF; UTF-8, with U+FFFD for bytes of names
/// that are not.
void write_run_csv(text_sink& to, const run_record& record);

/// The same without the first line. `before`: fields that each row begins with, with the comma that
/// follows them, or nothing.
void write_csv_rows(text_sink& to, const run_record& record, std::string_view before = {});

}  // namespace graphline
