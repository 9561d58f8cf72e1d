#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "framework/record/run_record.hpp"
#include "framework/report/csv/csv_rows.hpp"

namespace graphline {

/// The first line of `write_run_csv`.
inline constexpr std::string_view csv_header = csv_columns;

/// The stamps of frames and stages: for each frame (from 0) a row `end_to_end` that names no stage
/// and begins when the frame was due, likewise one for `queue_wait` where frames arrive on a
/// schedule, then a row for each stage and measure, and under `layers` one for each part of a
/// stage, with "STAGE/PART" in place of the stage and the measure `part_time`. Nanoseconds since
/// the run's epoch. Quoted as in RFC 4180, lines end in LF; UTF-8, with U+FFFD for bytes of names
/// that are not.
void write_run_csv(text_sink& to, const run_record& record);

/// About how large it becomes, for reserving it on the disk.
std::uint64_t expected_csv_bytes(std::int64_t frames, std::size_t stages);

}  // namespace graphline
