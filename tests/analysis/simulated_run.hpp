#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// A run of a random pipeline that was worked out instead of measured: what held each thing back is
/// known, since it is what the time was made from.
struct simulated_run {
  using by_kind = std::array<nanoseconds, std::size(time_category_words)>;

  run_record record;
  std::vector<by_kind> truth;  ///< by frame: what its time went to, by `time_category`
};

/// Two to ten stages on both sides, with copies, on up to three streams; any strategy, up to three
/// frames in flight, frames due on a schedule or not, each as one graph or not; timed by `event` or
/// `sync`. All stamps are consistent, and no two causes end at once but by a rare chance.
simulated_run simulate(std::uint64_t seed);

/// The same with each stamp of the device off by up to `error` either way, and the record saying
/// so.
run_record with_unsure_clock(run_record record, nanoseconds error, std::uint64_t seed);

/// A record of no frames yet: settings and stages as chance has them, each with what it waits for.
/// Two to ten stages on both sides, with copies, on up to three streams.
run_record drawn_pipeline(std::mt19937_64& generator);

}  // namespace graphline::samples
