#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// Where a percentile lies with 95 % confidence, in nanoseconds. An end that the frames do not
/// carry is absent: the percentile may lie beyond all of them.
struct percentile_interval {
  double p = 0;
  std::optional<nanoseconds> low;
  std::optional<nanoseconds> high;
};

/// How many neighbors a block has to hold so that blocks are about independent: the automatic
/// length for the circular block bootstrap (Politis and White, "Automatic block-length selection
/// for the dependent bootstrap", Econometric Reviews 23, 2004, corrected by Patton, Politis and
/// White, ibid. 28, 2009). 1 for a constant or an empty series; at most a third of the series and
/// three times its square root.
///
/// A series of more than 100,000 values is first replaced by means of groups of neighbors, at most
/// 100,000 of them, whose block length is that many groups: time grows with the number of values.
double automatic_block_length(std::span<const double> series);

/// Intervals of those of `percentiles` that the sample carries, from the times of one run in the
/// order of its frames and the same times sorted.
///
/// Frames are slow together, so an interval for independent frames is too narrow. How many of them
/// lie below a percentile is therefore resampled in blocks of neighbors: the circular block
/// bootstrap (Politis and Romano 1992). Its variance is a sum over all blocks and needs no draws;
/// over that of independent frames it is the design effect, and the frames divided by it are as
/// many as independent ones would say as much, less by Student's t for the number of blocks. The
/// interval goes by the binomial ranks of so few frames (Korn and Graubard, "Confidence intervals
/// for proportions with small expected number of positive counts estimated from survey data",
/// Survey Methodology 24, 1998, inverted after Woodruff, J. Amer. Statist. Assoc. 47, 1952). Blocks
/// have the greatest automatic length of the times and of being below each percentile, at most a
/// fifth of the run. It knows only what happened in the run: of a disturbance that comes every few
/// minutes a run of a minute knows nothing.
///
/// For each percentile the cost grows with the number of frames, and below 100,000 frames with that
/// times the reach of their dependence, at most six times the square root of their number.
std::vector<percentile_interval> percentile_intervals(std::span<const nanoseconds> in_order,
                                                      const distribution& sorted,
                                                      std::span<const double> percentiles);

}  // namespace graphline
