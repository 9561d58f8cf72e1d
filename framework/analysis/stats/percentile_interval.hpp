#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// 95 % interval of a percentile, in ns. An end is empty if the sample is too small for it.
struct percentile_interval {
  double p = 0;
  std::optional<nanoseconds> low;
  std::optional<nanoseconds> high;
};

/// Returns a block length for which blocks are approximately independent. This is the automatic
/// length for the circular block bootstrap (Politis and White, "Automatic block-length selection
/// for the dependent bootstrap", Econometric Reviews 23, 2004, corrected by Patton, Politis and
/// White, ibid. 28, 2009). It is 1 for a constant or empty series, and at most a third of the
/// series and three times the square root of the series' length.
///
/// Replaces more than 100,000 values by at most 100,000 group means, and scales the block length by
/// the group size, so that time is linear in the number of values.
double automatic_block_length(std::span<const double> series);

/// Returns the intervals of the `percentiles` for which the sample is large enough.
/// @param in_order Times of one run in frame order.
/// @param sorted The same times.
///
/// Frames are serially dependent, so an interval for independent frames would be too narrow. The
/// variance of the number of frames below a percentile is taken from the circular block bootstrap
/// (Politis and Romano 1992), computed as a sum over all blocks, without draws. The design effect
/// is this variance divided by that of independent frames. The effective sample size is the number
/// of frames divided by the design effect, and reduced by Student's t for the number of blocks. The
/// effective sample size determines the binomial ranks of the interval (Korn and Graubard,
/// "Confidence intervals for proportions with small expected number of positive counts estimated
/// from survey data", Survey Methodology 24, 1998, inverted after Woodruff, J. Amer. Statist.
/// Assoc. 47, 1952). The block length is the largest automatic length of several series, which are
/// the times and, for each percentile, the indicators of times below it. It is at most a fifth of
/// the run. The interval does not cover disturbances that occur less often than once per run.
///
/// For n frames, takes at most O(n^1.5) time per percentile.
std::vector<percentile_interval> percentile_intervals(std::span<const nanoseconds> in_order,
                                                      const distribution& sorted,
                                                      std::span<const double> percentiles);

}  // namespace graphline
