#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/words.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// What is compared of two configurations: percentiles of the end-to-end time, the throughput, or
/// the share of frames that missed their deadline.
enum class figure { p50, tail, throughput, late };

inline constexpr word<figure> figure_words[] = {{"p50", figure::p50},
                                                {"tail", figure::tail},
                                                {"throughput", figure::throughput},
                                                {"late", figure::late}};

/// With fewer blocks there are no intervals and no verdicts.
inline constexpr std::size_t least_blocks = 5;

/// What a comparison says. `faster` and `slower` of what is compared: a higher throughput is
/// faster, and so are fewer late frames.
enum class verdict {
  faster,
  slower,
  same,          ///< the whole interval lies within the margin
  inconclusive,  ///< the data do not carry one of the others
};

inline constexpr word<verdict> verdict_words[] = {{"faster", verdict::faster},
                                                  {"slower", verdict::slower},
                                                  {"same", verdict::same},
                                                  {"inconclusive", verdict::inconclusive}};

// Of tables and files: `to_word(verdict::same)` is "same".
template <>
struct words_of<figure> {
  static constexpr const auto& table = figure_words;
};
template <>
struct words_of<verdict> {
  static constexpr const auto& table = verdict_words;
};

/// What the interval of a ratio says of the change.
inline std::optional<interval> change_of(const std::optional<interval>& ratio) noexcept {
  if (!ratio) return std::nullopt;
  return interval{ratio->low - 1, ratio->high - 1};
}

/// A figure of one configuration against that of another. Late frames have no ratio: there may be
/// none, and what counts is how many more of all there are.
struct comparison {
  compared_pair pair;
  graphline::figure figure = graphline::figure::p50;
  double value = 0;       ///< nanoseconds, frames a second, or a part of all frames
  double reference = 0;   ///< likewise
  double difference = 0;  ///< value - reference
  double ratio = 1;       ///< value / reference; not of late frames
  /// All intervals of the experiment hold together with 95 %. Nothing with too few blocks.
  std::optional<interval> difference_range;
  std::optional<interval> ratio_range;
  graphline::verdict verdict = graphline::verdict::inconclusive;
  /// Of an inconclusive one: about how many more trials of each would decide it; nothing when that
  /// cannot be told or is out of reach.
  std::optional<std::int64_t> more_trials;

  /// By how much it is more, which the margin limits: a part of the reference; of late frames the
  /// difference.
  double change() const noexcept {
    return figure == graphline::figure::late ? difference : ratio - 1;
  }
  std::optional<interval> change_range() const noexcept {
    return figure == graphline::figure::late ? difference_range : change_of(ratio_range);
  }
};

/// The p50 of one stage against that of the same stage in another configuration.
struct stage_comparison {
  compared_pair pair;
  std::size_t stage = 0;  ///< as in the summary of what is compared; the reference's by its name
  double difference = 0;  ///< nanoseconds
  double ratio = 1;
  std::optional<interval> ratio_range;  ///< all of the stages' hold together with 95 %
  graphline::verdict verdict = graphline::verdict::inconclusive;

  std::optional<interval> change_range() const noexcept { return change_of(ratio_range); }
};

/// What the trials of one pipeline of a configuration say, all frames of all trials together.
struct member_summary {
  std::string name;
  std::size_t trials = 0;                       ///< that are counted
  std::optional<graphline::overload> overload;  ///< of most trials
  std::optional<distribution> end_to_end;       ///< unsettled where latency grows
  std::optional<nanoseconds> tail;              ///< the experiment's tail percentile
  std::optional<double> throughput;             ///< of trials as `completions_of`, together
  std::vector<double> trial_medians;            ///< nanoseconds, in order of the blocks
  std::optional<double> between_trials;  ///< standard deviation of these; nothing below 2 trials
  struct stage {
    std::string name;
    side on = side::device;
    std::optional<measure> what;  ///< nothing where stages are not timed
    std::optional<distribution> times;
  };
  std::vector<stage> stages;

  /// With the length of the trials, in most of them: no latency of theirs is to be compared.
  bool latency_grows() const noexcept { return overload && overload->growth; }
  std::optional<deadline_summary> deadline;
  std::size_t due = 0;      ///< frames, dropped ones among them
  std::size_t dropped = 0;  ///< by a full queue
  std::size_t device_bytes = 0;
  std::optional<double> cores;  ///< busy on average while frames ran; of the whole process
};

struct configuration_summary {
  std::vector<member_summary> members;
};

/// How steady the machine was, by the configurations that others are compared with.
struct steadiness {
  /// Change of the references' p50 from the first block to the last, as a ratio minus 1; nothing
  /// where no trend is visible.
  std::optional<double> drift;
  std::vector<std::size_t> affected_blocks;     ///< in which they were far from the other blocks
  std::vector<std::size_t> stood_still_blocks;  ///< in which the process stood still
};

struct experiment_summary {
  /// In which every configuration has a trial that ran to its end.
  std::size_t complete_blocks = 0;
  std::size_t counted_blocks = 0;  ///< those that comparisons rest on: without repeated ones
  std::size_t trials_left_out = 0;
  std::vector<configuration_summary> configurations;  ///< as in the record
  std::vector<comparison> comparisons;                ///< by pair, then figure
  std::vector<stage_comparison> stage_comparisons;
  steadiness machine;
};

/// "p50", "p95" for the tail, "throughput", "late frames".
std::string figure_name(figure what, double tail);

/// The verdict in a word: of late frames "fewer" or "more" for faster and slower.
std::string_view verdict_word(verdict what, figure of) noexcept;

/// The comparison of a pair by a figure; null where there is none.
const comparison* find_comparison(const experiment_summary& summary, const compared_pair& pair,
                                  figure what) noexcept;

/// Only complete blocks are counted; where there is none, configurations show what trials there
/// are, without comparisons. Affected blocks count unless they were repeated.
experiment_summary summarize(const experiment_record& record);

/// Whether every pair has an interval of the p50's ratio that reaches at most `narrow_to` to either
/// side: cheap enough to be asked after every block.
bool narrow_enough(const experiment_record& record, double narrow_to);

/// Blocks in which the machine was not itself, by the trials so far.
steadiness steadiness_of(const experiment_record& record);

}  // namespace graphline
