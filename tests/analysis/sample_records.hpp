#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// What a frame of the sample pipeline takes: device stage `backbone`, CPU stage `noise`, device
/// stage `head`, in nanoseconds.
struct frame_times {
  nanoseconds end_to_end = 74'000'000;
  nanoseconds backbone = 70'000'000;
  nanoseconds noise = 16'000'000;
  nanoseconds head = 400'000;
  nanoseconds launch = 21'000;
};

/// Between -1 and 1, fixed by its arguments.
double wobble(std::uint64_t a, std::uint64_t b);

/// A time multiplied by a factor, rounded.
nanoseconds scaled(nanoseconds time, double factor);

/// A run of the sample pipeline under a timing method with the given frames, stamps and all.
run_record run_of(timing_method method, const std::vector<frame_times>& frames);

/// A run of `count` frames whose times vary by a few percent in a fixed, irregular pattern.
run_record two_models(timing_method method, std::size_t count);

/// Such a run under `layers`: `backbone` has two parts, of three quarters and one quarter of its
/// time.
run_record two_models_in_parts(std::size_t count);

/// A run of `count` frames that were due at 13.5 a second, beginning up to 20 ms late; two more,
/// due 30 ms before the second and the last began, found the queue full and were dropped. The
/// deadline is 80 ms. At least two frames.
run_record two_models_on_schedule(std::size_t count);

/// A run of `count` frames that were due every 50 ms and are done every 74 ms, one after another.
run_record overloaded_two_models(std::size_t count);

/// Adds what the two graphs of the pipeline cost: 2.1 ms to make, and 7 us less to launch than to
/// enqueue what is in them, each time.
void add_graphs(run_record& to);

/// Adds the operations of `backbone` as ten traced runs saw them: two calls of one, one of another.
void add_operations(run_record& to);

}  // namespace graphline::samples
