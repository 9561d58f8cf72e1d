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

// Gates: conditions under which a result fails, such as a pull request in CI.

/// What a gate judges: the frames of one run, or how configurations of an experiment compare with
/// their baselines, or one result with another.
enum class gated { run, comparison };

/// Fails where the metric exceeds the limit.
struct gate {
  std::string text;  ///< "p99>20ms"
  std::string metric;
  double limit = 0;  ///< nanoseconds; of "late" and "slower" a part of 1
};

/// Reads "METRIC > LIMIT". Of a run: a percentile that reports show, "mean" or "max", all end to
/// end, above a time; or "late" above a percentage. Of comparisons: "slower" above a percentage, or
/// "late" above percentage points, "late>2points".
/// Throws an `input_error` that names the option --fail-if.
gate parse_gate(std::string_view text, gated what);

/// Why no run with these settings can be judged by the gate, so that it need not be started: no
/// deadline, or fewer frames than the percentile needs. Empty where one may.
std::string why_never_judged(const gate& of, const settings& run);

/// Likewise no experiment with this plan: nothing to compare, no deadline, or fewer trials than
/// verdicts need.
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

/// What became of a gate. One that cannot be judged lets nothing pass.
struct gate_result {
  gate condition;
  gate_outcome outcome = gate_outcome::not_judged;
  std::optional<quantity> value = {};  ///< of the metric, or by how much slower it is
  std::string why = {};                ///< what it rests on; why it cannot be judged
};

/// By the run's own figures, as they are: "late" is the part of all frames that missed the deadline
/// or were dropped. Frames that a standstill held up do not count. Not judged: a run that did not
/// come to its end, and what it cannot carry.
gate_result judge(const gate& of, const run_record& record, const run_summary& summary);

/// "slower" fails where a configuration has, by any of the figures that are compared, the verdict
/// slower, and the end of the interval that is nearer to no change lies beyond the limit; "late"
/// likewise of late frames, by points, where both have a deadline. Not judged: an experiment that
/// did not come to its end, comparisons without an interval, and overloaded configurations, unless
/// one fails.
gate_result judge(const gate& of, const experiment_record& record,
                  const experiment_summary& summary);

/// The same of the second experiment's configurations. Not judged also where one of the first's is
/// missing in the second.
gate_result judge(const gate& of, const experiment_diff& diff);

/// "slower" fails where the 95 % interval of the second run's p50 begins beyond the limit above the
/// end of the first's. Not judged: runs during which the process stood still.
gate_result judge(const gate& of, const analyzed_run& before, const analyzed_run& after);

}  // namespace graphline
