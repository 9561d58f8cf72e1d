#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/experiment/chains.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/words.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// A compared metric: a percentile of the end-to-end time, the throughput, or the fraction of
/// frames that missed their deadline.
enum class figure { p50, tail, throughput, late };

inline constexpr word<figure> figure_words[] = {{"p50", figure::p50},
                                                {"tail", figure::tail},
                                                {"throughput", figure::throughput},
                                                {"late", figure::late}};

/// Minimum number of blocks for intervals and verdicts, without MPI.
inline constexpr std::size_t least_blocks = 5;

/// Returns the minimum if several ranks run blocks: one more for each, because each rank has a
/// level of its own.
constexpr std::size_t blocks_needed(std::size_t ranks) {
  return least_blocks + ranks - 1;
}

/// Outcome of a comparison. Higher throughput and fewer late frames are `faster`.
enum class verdict {
  faster,
  slower,
  same,          ///< the interval lies within the margin
  inconclusive,  ///< the interval supports no other verdict
};

inline constexpr word<verdict> verdict_words[] = {{"faster", verdict::faster},
                                                  {"slower", verdict::slower},
                                                  {"same", verdict::same},
                                                  {"inconclusive", verdict::inconclusive}};

template <>
struct words_of<figure> {
  static constexpr const auto& table = figure_words;
};
template <>
struct words_of<verdict> {
  static constexpr const auto& table = verdict_words;
};

/// Converts the interval of a ratio to that of the relative change.
inline std::optional<interval> change_of(const std::optional<interval>& ratio) noexcept {
  if (!ratio) return std::nullopt;
  return interval{ratio->low - 1, ratio->high - 1};
}

/// Comparison with a reference by a metric, by the p50 of a stage or by a percentile of a chain's
/// times. Late frames are compared only by difference, because the reference may have none.
struct comparison {
  compared_pair pair;
  graphline::figure figure = graphline::figure::p50;
  std::size_t stage = 0;  ///< stage index in the summary of `pair.what`, if stages are compared
  std::size_t chain = 0;  ///< chain index in the record, if chains are compared
  chain_figures chain_summary::*times = nullptr;  ///< `age` or `reaction`, likewise
  double value = 0;       ///< nanoseconds, frames per second, or a fraction of frames
  double reference = 0;   ///< in the same unit
  double difference = 0;  ///< value - reference
  double ratio = 1;       ///< value / reference; unused for late frames
  /// 95 % intervals, simultaneous over the experiment; empty if there are too few blocks.
  std::optional<interval> difference_range = {};
  std::optional<interval> ratio_range = {};
  graphline::verdict verdict = graphline::verdict::inconclusive;
  /// Approximate number of additional trials per configuration that would decide an inconclusive
  /// comparison; empty if unknown or too many.
  std::optional<std::int64_t> more_trials = {};

  /// Returns the change that the margin applies to: the relative change or, for late frames, the
  /// difference.
  double change() const noexcept {
    return figure == graphline::figure::late ? difference : ratio - 1;
  }
  std::optional<interval> change_range() const noexcept {
    return figure == graphline::figure::late ? difference_range : change_of(ratio_range);
  }
};

/// Summary of a pipeline of a configuration, over all frames of its trials.
struct member_summary {
  std::string name;
  std::size_t trials = 0;                       ///< number of counted trials
  std::optional<graphline::overload> overload;  ///< set if most trials are overloaded
  std::optional<distribution> end_to_end;       ///< unsettled if latency grows
  std::optional<nanoseconds> tail;              ///< the experiment's tail percentile
  std::optional<double> throughput;             ///< frames per second over all trials
  std::vector<double> trial_medians;            ///< p50 by trial in ns, in block order
  std::optional<double> between_trials;  ///< standard deviation of `trial_medians`; empty below 2
  struct stage {
    std::string name;
    side on = side::device;
    std::optional<measure> what;  ///< empty if stages are not timed
    std::optional<distribution> times;
    std::optional<double> ran;        ///< fraction of frames; empty if it runs in every frame
    std::optional<double> mean_rows;  ///< of frames that ran it; empty without `rows`
  };
  std::vector<stage> stages;

  /// Returns true if latency grows with trial length in most trials. Latencies are then not
  /// comparable.
  bool latency_grows() const noexcept { return overload && overload->growth; }
  std::optional<deadline_summary> deadline;
  std::vector<stage_deadline> stage_deadlines;
  std::vector<contention> waits;  ///< of its CPU stages and of its device stages, if known
  std::size_t due = 0;            ///< due frames, including dropped frames
  std::size_t dropped = 0;        ///< frames dropped by a full queue
  std::size_t device_bytes = 0;
  std::optional<double> cores;  ///< mean number of cores that the process used during frames
};

struct configuration_summary {
  std::vector<member_summary> members;
};

/// Steadiness of the machine, measured with the reference configurations.
struct steadiness {
  /// Relative change of the references' p50 from the first block to the last; empty without a
  /// significant trend.
  std::optional<double> drift;
  std::vector<std::size_t> affected_blocks;     ///< blocks whose reference trials are outliers
  std::vector<std::size_t> stood_still_blocks;  ///< blocks in which the process stood still
};

/// What one rank of an experiment under MPI ran.
struct rank_of_experiment {
  std::optional<trial_place> place;   ///< empty for blocks before or after, without MPI
  std::size_t blocks = 0;             ///< that count
  std::string device;                 ///< name
  std::optional<distribution> times;  ///< end to end, of the first baseline
};

struct experiment_summary {
  /// Number of blocks in which every configuration has a completed trial.
  std::size_t complete_blocks = 0;
  std::size_t counted_blocks = 0;            ///< complete blocks used in comparisons
  std::size_t needed_blocks = least_blocks;  ///< for intervals and verdicts
  std::size_t trials_left_out = 0;
  std::vector<configuration_summary> configurations;  ///< as in the record
  std::vector<comparison> comparisons;                ///< by pair, then figure
  std::vector<comparison> stage_comparisons;  ///< intervals are simultaneous over these comparisons
  std::vector<chain_summary> chains;          ///< by chain, then configuration
  std::vector<comparison> chain_comparisons;  ///< likewise simultaneous, by pair and chain
  steadiness machine;
  std::vector<rank_of_experiment> ranks;  ///< in order; empty without MPI
};

/// Returns "p50", "p95" for the tail, "throughput" or "late frames".
std::string figure_name(figure what, double tail);

/// Returns the word for a verdict; for late frames, "fewer" for faster and "more" for slower.
std::string_view verdict_word(verdict what, figure of) noexcept;

/// Returns the comparison of a pair by a metric, or null if there is none.
const comparison* find_comparison(const experiment_summary& summary, const compared_pair& pair,
                                  figure what) noexcept;

/// Summarizes the counted trials. Makes no comparisons without a complete block.
experiment_summary summarize(const experiment_record& record);

/// Returns true if, for every pair, the interval of the p50 ratio lies within (1 +/- `narrow_to`)
/// times the ratio.
bool narrow_enough(const experiment_record& record, double narrow_to);

/// Detects drift and disturbed blocks in the trials so far.
steadiness steadiness_of(const experiment_record& record);

}  // namespace graphline
