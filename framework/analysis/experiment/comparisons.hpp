#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/experiment/resampling.hpp"

namespace graphline {

/// Everything that is compared of two configurations, in the order in which it is shown.
inline constexpr std::array all_figures = {figure::p50, figure::tail, figure::throughput,
                                           figure::late};

/// Figures of a pipeline, in the order of `all_figures`, each with its draws; nothing where the
/// frames do not carry one.
struct resampled_figures {
  std::array<std::optional<resampled_figure>, all_figures.size()> of;
  bool latency_grows = false;  ///< with the length of the runs, by `overload_of`
};

/// Draws from so many blocks, at least 1; none below `least_blocks`, where they would say nothing.
block_draws draws_for(std::size_t blocks, std::uint64_t seed);

/// Of all frames of all runs, one run for each block of the draws. `tail`: the percentile. No
/// percentile where latency grows with the length of the runs.
resampled_figures figures_of(const std::vector<const run_record*>& runs, double tail,
                             const block_draws& draws);

/// What the interval of a ratio, or of 1 plus a difference of shares, says. `same` comes first: a
/// difference that is certain but lies within the margin is none that matters. `more_is_faster` of
/// a throughput, not of a time.
verdict verdict_of(const interval& ratio, double margin, bool more_is_faster);

/// What the interval of a difference of shares of late frames says. Where latency grows, longer
/// runs have a larger share: a verdict that they could turn is `inconclusive`.
verdict verdict_of_late(const interval& difference, double margin, bool latency_grows,
                        bool latency_of_reference_grows);

/// A ratio that `blocks` blocks left inconclusive. Of shares, a difference in place of the
/// logarithm.
struct inconclusive_ratio {
  double log_ratio = 0;
  double error = 0;     ///< standard error of the logarithm
  double level = 0.05;  ///< at which its interval stands
  double margin = 0.01;
};

/// About how many more blocks would decide it, one way or the other, if the ratio is as it looks
/// now: the error shrinks with the root of the number of blocks, and the interval must clear its
/// mark in four of five repetitions. Nothing beyond `most_more_trials`.
std::optional<std::int64_t> blocks_to_decide(const inconclusive_ratio& ratio, std::size_t blocks);
inline constexpr std::int64_t most_more_trials = 10'000;

/// Every pair of a record by every figure that the counted trials of both carry, by pair, then
/// figure. Without intervals below `least_blocks` blocks.
std::vector<comparison> compare_figures(const counted_trials& trials,
                                        const experiment_record& record);

/// The stages of every pair that both have by name, timed in the same way; `summaries` are those of
/// the same trials.
std::vector<stage_comparison> compare_stages(const counted_trials& trials,
                                             const experiment_record& record,
                                             const std::vector<configuration_summary>& summaries);

}  // namespace graphline
