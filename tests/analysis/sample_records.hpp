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

/// Returns a number in [-1, 1) that depends only on the arguments.
double wobble(std::uint64_t a, std::uint64_t b);

/// Scales a time and rounds it to nanoseconds.
nanoseconds scaled(nanoseconds time, double factor);

/// Creates a run of the sample pipeline with the given frames and all stamps of the timing method.
run_record run_of(timing_method method, const std::vector<frame_times>& frames);

/// Creates a run of `count` frames whose times vary by a few percent, deterministically.
run_record two_models(timing_method method, std::size_t count);

/// Creates such a run under `layers`, with two parts of `backbone` that take three quarters and one
/// quarter of its time.
run_record two_models_in_parts(std::size_t count);

/// Creates a run of `count` >= 2 frames that are due at 13.5 per second and begin up to 20 ms late.
/// Two more frames, due 30 ms before the second and the last frame begin, were dropped because the
/// queue was full. The deadline is 80 ms.
run_record two_models_on_schedule(std::size_t count);

/// Creates a run of `count` frames that are due every 50 ms and complete every 74 ms.
run_record overloaded_two_models(std::size_t count);

/// Adds two graphs. Each takes 1.05 ms to create and saves 7 us per launch over eager launches.
void add_graphs(run_record& to);

/// Adds two operations of `backbone`, called twice and once in each of ten traced runs.
void add_operations(run_record& to);

}  // namespace graphline::samples
