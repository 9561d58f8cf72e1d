#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// Times of a frame of the sample pipeline, in ns: device stage `backbone`, CPU stage `noise`,
/// device stage `head`.
struct frame_times {
  nanoseconds end_to_end = 74'000'000;
  nanoseconds backbone = 70'000'000;
  nanoseconds noise = 16'000'000;
  nanoseconds head = 400'000;
  nanoseconds launch = 21'000;
};

/// A number in [-1, 1), determined by the arguments.
double wobble(std::uint64_t a, std::uint64_t b);

/// Scales a time and rounds.
nanoseconds scaled(nanoseconds time, double factor);

/// A run of the sample pipeline with the given frames and all stamps of the timing method.
run_record run_of(timing_method method, const std::vector<frame_times>& frames);

/// A run of `count` frames whose times vary by a few percent, irregularly but deterministically.
run_record two_models(timing_method method, std::size_t count);

/// Such a run under `layers`; `backbone` has two parts with three quarters and one quarter of its
/// time.
run_record two_models_in_parts(std::size_t count);

/// A run of `count` >= 2 frames due at 13.5 per second that begin up to 20 ms late. Two more
/// frames, due 30 ms before the second and the last begin, found the queue full and were dropped.
/// The deadline is 80 ms.
run_record two_models_on_schedule(std::size_t count);

/// A run of `count` frames due every 50 ms and completed every 74 ms.
run_record overloaded_two_models(std::size_t count);

/// Adds the costs of two graphs: 2.1 ms to create, and 7 us less per launch than enqueueing their
/// operations.
void add_graphs(run_record& to);

/// Adds the operations of `backbone` from ten traced runs: two calls of one, one of another.
void add_operations(run_record& to);

}  // namespace graphline::samples
