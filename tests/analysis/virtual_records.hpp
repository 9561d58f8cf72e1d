#pragma once

#include <cstdint>

#include "framework/record/run_record.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline::samples {

/// A random pipeline with random times, for execution in virtual time. The times are multiples of
/// 128 ns from a wide range, so that no two sums are equal and a change of 1 ns preserves their
/// order.
struct drawn_execution {
  testing_plans::drawn_run run;
  testing_plans::overheads of;
};

/// Draws eight frames of up to twelve CPU and device stages, including copies, on three streams,
/// with 1 to 4 workers.
drawn_execution draw_execution(std::uint64_t seed, strategy how, std::size_t in_flight,
                               graph_mode graphs = graph_mode::stage);

/// Draws any strategy, graph mode and timing method that virtual time supports, up to three frames
/// in flight, with or without a schedule.
drawn_execution draw_execution(std::uint64_t seed);

/// Executes the pipeline with the production executor.
run_record virtual_record(const drawn_execution& execution);

/// Shifts each device stamp by up to `error` either way and sets the record's clock error.
run_record with_unsure_clock(run_record record, nanoseconds error, std::uint64_t seed);

}  // namespace graphline::samples
