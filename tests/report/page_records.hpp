#pragma once

#include <cstddef>

#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline::samples {

// Runs that are hard to show.

/// Names that a page must show as they are: markup, quotes, line breaks, other scripts, bytes that
/// are no UTF-8.
run_record odd_names();

/// Six stages; every 9973rd frame takes 60 ms longer.
run_record long_run(std::size_t frames);

/// Sixty stages with names too long for any column, two of them the same but for their middle.
run_record crowded();

/// In frame 4, two stages started before others that are older.
run_record decided_by_a_policy();

/// Ended by an error after seven of 45 frames.
run_record failed();

/// Interrupted before the first frame.
run_record without_frames();

/// Timed by layers, with graphs and traced operations.
run_record in_detail();

/// The confirmation of a search: graphs=frame is faster than the file's settings. Other candidates
/// have a higher throughput (in_flight=4), are worse in all, or were not measured.
experiment_record searched();

}  // namespace graphline::samples
