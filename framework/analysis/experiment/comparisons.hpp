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

/// All metrics that are compared, in display order.
inline constexpr std::array all_figures = {figure::p50, figure::tail, figure::throughput,
                                           figure::late};

/// Metrics of a pipeline in the order of `all_figures`, with bootstrap replicates. A metric is
/// empty if it cannot be computed, for example from too few frames.
struct resampled_figures {
  std::array<std::optional<resampled_figure>, all_figures.size()> of;
  bool latency_grows = false;  ///< latency grows with the run's length; see `overload_of`
};

/// The blocks that metrics are taken from: by rank, each with its bootstrap draws. There are no
/// draws if the blocks are too few for intervals; see `blocks_needed`.
struct sampled_blocks {
  /// @param by_rank Positions of the blocks of each rank; at least one block.
  sampled_blocks(std::vector<std::vector<std::size_t>> by_rank, std::uint64_t seed);

  block_count count() const noexcept { return {blocks, by_rank.size()}; }

  /// Returns a percentile of times by block: that of each rank, averaged. Empty if a rank has too
  /// few times for it.
  std::optional<resampled_figure> percentile(const std::vector<std::vector<nanoseconds>>& times,
                                             double p) const;

  template <class Item>
  std::vector<Item> of_rank(std::size_t rank, const std::vector<Item>& items) const {
    std::vector<Item> own;
    for (const std::size_t b : by_rank[rank]) own.push_back(items[b]);
    return own;
  }

  std::vector<std::vector<std::size_t>> by_rank;
  std::size_t blocks = 0;
  std::vector<double> weights;     ///< of each rank; their sum is 1
  std::vector<block_draws> draws;  ///< of each rank
};

/// Computes the metrics over all frames of the runs, one run per block. Omits percentiles if
/// latency grows with the length of the runs.
resampled_figures figures_of(const std::vector<const run_record*>& runs, double tail,
                             const sampled_blocks& blocks);

/// Returns the verdict for the interval of a ratio, or of 1 plus a difference of fractions. `same`
/// takes precedence because a significant difference within the margin is irrelevant.
/// @param more_is_faster True for throughput, false for times.
verdict verdict_of(const interval& ratio, double margin, bool more_is_faster);

/// Returns the verdict for the interval of a difference between fractions of late frames. If
/// latency grows, longer runs have larger fractions. A verdict that longer runs could reverse is
/// `inconclusive`.
verdict verdict_of_late(const interval& difference, double margin, bool latency_grows,
                        bool latency_of_reference_grows);

/// For late frames, `log_ratio` and `error` describe the difference.
struct inconclusive_ratio {
  double log_ratio = 0;
  double error = 0;     ///< standard error of `log_ratio`
  double level = 0.05;  ///< level of the ratio's interval
  double margin = 0.01;
};

/// Estimates how many more blocks would decide the ratio with a power of 80 %. Assumes that the
/// measured value is the true value and that the error is inversely proportional to the square root
/// of the number of blocks. Empty beyond `most_more_trials`.
std::optional<std::int64_t> blocks_to_decide(const inconclusive_ratio& ratio, block_count blocks);
inline constexpr std::int64_t most_more_trials = 10'000;

/// Compares every pair of a record by each metric that the counted trials of both sides provide.
/// Sorts by pair, then by metric. Omits intervals for fewer than `blocks_needed` blocks.
std::vector<comparison> compare_figures(const counted_trials& trials,
                                        const experiment_record& record);

/// Compares the stages of every pair, matched by name and measure.
/// @param summaries Summaries of the same trials.
std::vector<comparison> compare_stages(const counted_trials& trials,
                                       const experiment_record& record,
                                       const std::vector<configuration_summary>& summaries);

/// Compares p50 and tail of the times of each chain, once for each pair of configurations.
/// @param chains Summaries of the same trials.
std::vector<comparison> compare_chains(const counted_trials& trials,
                                       const experiment_record& record,
                                       const std::vector<chain_summary>& chains);

}  // namespace graphline
