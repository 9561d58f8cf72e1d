#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/base/units.hpp"
#include "framework/base/words.hpp"
#include "framework/record/validation_record.hpp"

namespace graphline {

/// Whether predictions of a figure agree with measurements, within a margin or the A/A spread.
enum class agreement {
  agrees,       ///< the error's interval lies within the larger of both, which is at most 25 %
  differs,      ///< the error's interval lies outside of both
  cannot_tell,  ///< neither
};
inline constexpr word<agreement> agreement_words[] = {{"agrees", agreement::agrees},
                                                      {"differs", agreement::differs},
                                                      {"cannot_tell", agreement::cannot_tell}};
template <>
struct words_of<agreement> {
  static constexpr const auto& table = agreement_words;
};

/// A figure or the mean time of a stage, measured and predicted. Medians over the rounds; empty if
/// a round lacks the value. Errors are relative to the measured value; empty if a value is 0.
struct validated_figure {
  std::string name;
  unit in = unit::duration;
  std::optional<double> measured = {};
  std::optional<double> predicted = {};
  /// Geometric mean of the rounds' ratios predicted / measured, minus 1.
  std::optional<double> error = {};
  /// 95 % interval of the error, by Student's t on the logarithms of the ratios; empty for one
  /// round.
  std::optional<interval> error_range = {};
  /// A/A spread: 95 % range of the ratio of two measured runs, minus 1, by Student's t on the
  /// logarithms of the measured values; empty for one round.
  std::optional<interval> spread = {};
  std::optional<agreement> verdict = {};  ///< empty for stages and without an interval
};

/// Mean time per frame of one category and stage on the critical path, as in `attribution_row`.
struct validated_piece {
  std::string stage;  ///< empty if there is none
  time_category what = time_category::queue_wait;
  double measured = 0;  ///< mean over the rounds, in nanoseconds
  double predicted = 0;
  double difference() const noexcept { return predicted - measured; }
};

struct validation_summary {
  std::vector<validated_figure> figures;  ///< "mean", "p50", "p95" end to end; "throughput"
  std::vector<validated_figure> stages;   ///< mean times, in planned order
  std::vector<validated_piece> pieces;    ///< they sum to `whole`; largest difference first
  validated_piece whole;                  ///< end-to-end time, or from begin to end
  /// Reason for excluding queue waits from `pieces` and `whole`; empty if they are included.
  std::string why_no_queue;
};

validation_summary analyze(const validation_record& record);

}  // namespace graphline
