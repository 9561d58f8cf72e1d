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

/// A limit on a metric. The gate fails if the metric exceeds the limit.
struct gate {
  std::string text;  ///< "p99>20ms"
  std::string metric;
  double limit = 0;                       ///< nanoseconds; a fraction for "late" and "slower"
  std::optional<double> percentile = {};  ///< between 0 and 1, if the metric is a percentile
};

/// Parses "METRIC > LIMIT". For a run, METRIC is a percentile that reports show, "mean" or "max",
/// and LIMIT is a time; or METRIC is "late" and LIMIT a percentage. For comparisons, METRIC is
/// "slower" and LIMIT a percentage, or METRIC is "late" and LIMIT in percentage points:
/// "late>2points".
/// @throws input_error that names the option --fail-if.
gate parse_gate(std::string_view text, gated what);

/// Explains, before a run starts, why it cannot be judged with these settings: it has no deadline,
/// or fewer frames than the percentile needs. Returns an empty text if it can be judged.
std::string why_never_judged(const gate& of, const settings& run);

/// Explains why an experiment with this plan cannot be judged: it compares nothing, no compared
/// pair has deadlines, or a verdict needs more trials. Returns an empty text if it can be judged.
std::string why_never_judged(const gate& of, const experiment_plan& planned);

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

/// Judges a run by its own metrics. "late" is the fraction of frames that were dropped or missed
/// the deadline. Excludes frames delayed by a standstill of the process. Returns `not_judged` if
/// the run did not complete, has too few frames, or would pass although its latency grows.
gate_result judge(const gate& of, const run_record& record, const run_summary& summary);

/// Judges an experiment. "slower" fails if the verdict on any compared metric of a configuration is
/// `slower` and the end of the interval nearer to no change exceeds the limit. "late" does the same
/// for late frames, in percentage points, where both configurations have a deadline. Returns
/// `not_judged` if the experiment did not complete. Unless the gate fails, also returns
/// `not_judged` if a comparison has no interval or a configuration is overloaded.
gate_result judge(const gate& of, const experiment_record& record,
                  const experiment_summary& summary);

/// Judges the configurations of the second experiment in the same way. Unless the gate fails, also
/// returns `not_judged` if the second experiment lacks a configuration of the first.
gate_result judge(const gate& of, const experiment_diff& diff);

/// Judges the second of two runs. "slower" fails if the lower end of the second run's 95 % interval
/// of p50 exceeds the upper end of the first run's interval by more than the limit. Returns
/// `not_judged` if a run did not complete, had a standstill, or has no interval of p50.
gate_result judge(const gate& of, const analyzed_run& before, const analyzed_run& after);

}  // namespace graphline
