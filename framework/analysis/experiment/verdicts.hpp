#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "framework/analysis/experiment/experiment_summary.hpp"

namespace graphline {

/// What the interval of a ratio says. `same` comes first: a difference that is certain but lies
/// within the margin is none that matters. `more_is_faster` of a throughput, not of a time.
verdict verdict_of(const interval& ratio, double margin, bool more_is_faster);

/// A ratio that `blocks` blocks left inconclusive.
struct undecided_ratio {
  double log_ratio = 0;
  double error = 0;     ///< standard error of the logarithm
  double level = 0.05;  ///< at which its interval stands
  double margin = 0.01;
};

/// About how many more blocks would decide it, one way or the other, if the ratio is as it looks
/// now: the error shrinks with the root of the number of blocks, and the interval must clear its
/// mark in four of five repetitions. Nothing beyond `most_more_trials`.
std::optional<std::int64_t> blocks_to_decide(const undecided_ratio& ratio, std::size_t blocks);
inline constexpr std::int64_t most_more_trials = 10'000;

}  // namespace graphline
