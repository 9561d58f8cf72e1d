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

// Gates: conditions that fail a result, for example in CI.

/// What a gate evaluates: the frames of one run, or comparisons of configurations with their
/// baselines or of one result with another.
enum class gated { run, comparison };

/// A condition that fails if the metric exceeds the limit.
struct gate {
  std::string text;  ///< "p99>20ms"
  std::string metric;
  double limit = 0;                       ///< nanoseconds; a fraction for "late" and "slower"
  std::optional<double> percentile = {};  ///< if the metric is one
};

/// Parses "METRIC > LIMIT". For a run: a percentile shown in reports, "mean" or "max" of the
/// end-to-end time and a time; or "late" and a percentage. For comparisons: "slower" and a
/// percentage, or "late" and percentage points, "late>2points".
/// @throws input_error naming the option --fail-if.
gate parse_gate(std::string_view text, gated what);

/// Explains why a run with these settings cannot be judged, so that it need not start: no deadline,
/// or fewer frames than the percentile needs. Empty if it may be judged.
std::string why_never_judged(const gate& of, const settings& run);

/// Explains why an experiment with this plan cannot be judged: no comparison, no deadline, or fewer
/// trials than verdicts need. Empty if it may be judged.
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
  std::string why = {};                ///< evidence, or why it cannot be judged
};

/// Judges a run by its own metrics. "late" is the fraction of frames that missed the deadline or
/// were dropped. Excludes frames delayed by a standstill. Not judged: a run that did not complete,
/// and metrics that need more frames.
gate_result judge(const gate& of, const run_record& record, const run_summary& summary);

/// Judges an experiment. "slower" fails if a configuration has the verdict slower in any compared
/// metric and the interval's end nearer to zero change exceeds the limit; "late" does the same for
/// late frames, in percentage points, if both configurations have a deadline. Unless the gate
/// fails, not judged: an experiment that did not complete, comparisons without an interval, and
/// overloaded configurations.
gate_result judge(const gate& of, const experiment_record& record,
                  const experiment_summary& summary);

/// Judges the second experiment's configurations likewise. Also not judged if the second experiment
/// lacks a configuration of the first.
gate_result judge(const gate& of, const experiment_diff& diff);

/// Judges the second of two runs. "slower" fails if the lower bound of its 95 % interval of p50
/// exceeds the upper bound of the first run's by more than the limit. Not judged: runs with a
/// standstill of the process.
gate_result judge(const gate& of, const analyzed_run& before, const analyzed_run& after);

}  // namespace graphline
