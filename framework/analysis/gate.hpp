#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/units.hpp"
#include "framework/base/words.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

// A gate (--fail-if) makes the command fail if a metric exceeds a limit, for example in CI.

/// What a gate evaluates: the frames of one run, or comparisons.
enum class gated { run, comparison };

struct gate {
  std::string text;  ///< "p99>20ms"
  std::string metric;
  double limit = 0;        ///< nanoseconds, bytes or a number; a fraction for "late" and "slower"
  std::string stage = {};  ///< whose times the metric is of; empty for frames
  std::optional<double> percentile = {};  ///< between 0 and 1, if the metric is a percentile
};

/// Returns the text without spaces at its ends.
std::string_view trimmed(std::string_view text);

/// Parses "METRIC > LIMIT".
/// - For a run: a percentile that reports show, "mean" or "max" with a time, also of a stage:
///   "detect.p99>8ms"; "late" with a percentage; "device_memory" with an amount; "error", the
///   largest relative error of an output, with a number.
/// - For comparisons: "slower" with a percentage, "late" with percentage points: "late>2points", or
///   "inconclusive" alone.
/// @throws input_error that names the option --fail-if.
gate parse_gate(std::string_view text, gated what);

/// Returns why the gate cannot judge a run of this plan (no deadline, no such stage, stages without
/// times, or too few frames for the percentile), or an empty text.
std::string why_never_judged(const gate& of, const plan& planned);

/// Returns why the gate cannot judge an experiment with this plan (no comparisons, no compared pair
/// with deadlines, or too few trials for a verdict), or an empty text.
std::string why_never_judged(const gate& of, const experiment_plan& planned, std::size_t ranks = 1);

enum class gate_outcome { passed, failed, not_judged };
inline constexpr word<gate_outcome> gate_outcome_words[] = {
    {"passed", gate_outcome::passed},
    {"FAILED", gate_outcome::failed},
    {"cannot be judged", gate_outcome::not_judged}};
template <>
struct words_of<gate_outcome> {
  static constexpr const auto& table = gate_outcome_words;
};

/// Result of a gate. A gate that cannot be judged does not pass.
struct gate_result {
  gate condition;
  gate_outcome outcome = gate_outcome::not_judged;
  std::optional<quantity> value = {};  ///< the metric, or the relative slowdown
  std::string why = {};                ///< evidence, or the reason why the gate cannot be judged
};

/// Judges a run. "late" is the fraction of frames that were dropped or missed the deadline.
/// Excludes frames delayed by a standstill of the process. Returns `not_judged` if the run did not
/// complete, has too few frames, or has no times of the stage. Also returns `not_judged` if the
/// gate would pass but latency grows during the run; this and a standstill do not affect memory.
gate_result judge(const gate& of, const run_record& record, const run_summary& summary);

/// Judges an experiment. "slower" fails if a metric other than late frames has the verdict `slower`
/// and the whole 95 % interval of its slowdown exceeds the limit. "late" applies the same rule to
/// late frames, in percentage points, and ignores pairs without deadlines. "inconclusive" fails if
/// a verdict on a metric other than late frames is inconclusive. Returns `not_judged` if the
/// experiment did not complete. Unless the gate fails, also returns `not_judged` if a pair
/// lacks an interval or contains an overloaded configuration.
gate_result judge(const gate& of, const experiment_record& record,
                  const experiment_summary& summary);

/// Judges the changes from the first experiment to the second by the same rules. Unless the gate
/// fails, also returns `not_judged` if the second experiment lacks a configuration of the first.
gate_result judge(const gate& of, const experiment_diff& diff);

/// Judges the second of two runs. "slower" fails if the lower end of the second run's 95 % interval
/// of p50 exceeds the upper end of the first run's interval by more than the limit. "inconclusive"
/// fails if the intervals overlap and do not show that the change is within the margin. Returns
/// `not_judged` if a run did not complete or has no interval of p50, or if the process stood still.
gate_result judge(const gate& of, const analyzed_run& before, const analyzed_run& after);

}  // namespace graphline
