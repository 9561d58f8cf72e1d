#pragma once

#include <cstdint>

#include "framework/record/run_record.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline::samples {

/// A random pipeline with random times, to be executed in virtual time.
///
/// Times are multiples of 128 ns from a wide range, so that no two sums of them are equal, and
/// none changes places with another if a time changes by 1 ns.
struct drawn_execution {
  testing_plans::drawn_run run;
  testing_plans::overheads of;
};

/// Eight frames of up to twelve stages of both sides, copies among them, on three streams; 1 to 4
/// workers.
drawn_execution draw_execution(std::uint64_t seed, strategy how, std::size_t in_flight,
                               graph_mode graphs = graph_mode::stage);

/// Of any strategy, graph mode and timing method that virtual time has; up to three frames in
/// flight; frames due on a schedule or not.
drawn_execution draw_execution(std::uint64_t seed);

/// By the executor that really runs pipelines.
run_record virtual_record(const drawn_execution& execution);

/// The same with each stamp of the device off by up to `error` either way, and the record saying
/// so.
run_record with_unsure_clock(run_record record, nanoseconds error, std::uint64_t seed);

}  // namespace graphline::samples
