#include "framework/analysis/gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

namespace {

// ---- Runs ---------------------------------------------------------------------------------------

/// Returns "was interrupted" or "failed: ERROR"; empty if the result is complete.
std::string why_ended(bool interrupted, const std::optional<std::string>& failure) {
  if (failure) return "failed: " + *failure;
  return interrupted ? "was interrupted" : "";
}

gate_result not_judged(const gate& of, std::string why) {
  return {of, gate_outcome::not_judged, {}, std::move(why)};
}

gate_result judged(const gate& of, quantity value, std::string why = {}) {
  return {of, value.value > of.limit ? gate_outcome::failed : gate_outcome::passed, value,
          std::move(why)};
}

constexpr const char* no_deadline =
    "the run has no deadline, which --deadline 20ms sets or 'deadline' in the pipeline's 'run' "
    "section";

std::string too_few_frames(const gate& of, std::size_t needed, std::int64_t frames) {
  return fmt::format("{} needs {} frames, the {} has {}", of.metric, needed,
                     of.stage.empty() ? "run" : "stage", frames);
}

constexpr const char* device_memory = "device_memory";
constexpr const char* output_error = "error";
constexpr const char* inconclusive_verdict = "inconclusive";

gate_result judge_late(const gate& of, const run_summary& summary) {
  if (!summary.deadline) return not_judged(of, no_deadline);
  const auto& misses = summary.deadline->misses;
  return judged(of, {misses.share(), unit::share},
                fmt::format("{} of {} frames", misses.missed, misses.frames));
}

gate_result judge_time(const gate& of, const distribution& times) {
  if (of.metric == "mean") return judged(of, {times.mean(), unit::duration});
  if (of.metric == "max") {
    return judged(of, {static_cast<double>(times.max()), unit::duration});
  }
  const double p = *of.percentile;
  // An unsettled sample has no `percentile()`, but a value above the limit must still fail.
  if (times.count() >= samples_needed(p)) {
    const auto value = times.sorted()[rank_of(p, times.count())];
    return judged(of, {static_cast<double>(value), unit::duration});
  }
  return not_judged(
      of, too_few_frames(of, samples_needed(p), static_cast<std::int64_t>(times.count())));
}

/// Returns the times that a gate compares: of its stage or, without a stage, end to end.
const std::optional<distribution>* times_of(const gate& of, const run_record& record,
                                            const run_summary& summary) {
  if (of.stage.empty()) return &summary.end_to_end;
  const auto stage = std::ranges::find(record.stages, of.stage, &stage_record::name);
  if (stage == record.stages.end()) return nullptr;
  const auto& columns =
      summary.stages[static_cast<std::size_t>(stage - record.stages.begin())].columns;
  return columns.empty() ? nullptr : &columns.front().times;
}

gate_result judge_frames(const gate& of, const run_record& record, const run_summary& summary) {
  const auto& frames = summary.end_to_end;
  if (!frames) return not_judged(of, "no frame was completed");
  const auto* times = times_of(of, record, summary);
  if (times == nullptr || !*times) return not_judged(of, "the stage has no times");
  auto result = of.metric == "late" ? judge_late(of, summary) : judge_time(of, **times);
  // If latency grows, a longer run could fail, so this run must not pass.
  const auto& why = frames->why_unsettled();
  if (result.outcome == gate_outcome::failed || why.empty()) return result;
  return not_judged(of, why);
}

gate_result judge_outputs(const gate& of, const run_record& record) {
  const auto worst = std::ranges::max_element(record.outputs, {}, &output_record::relative_error);
  if (worst == record.outputs.end() || !worst->relative_error) {
    return not_judged(of, "no output was compared with a reference");
  }
  const double error = *worst->relative_error;
  const auto who = quote(worst->tensor, 200);
  return {of,
          error > of.limit ? gate_outcome::failed : gate_outcome::passed,
          {},
          error < most_error ? fmt::format("{:.2g} in output {}", error, who)
                             : fmt::format("output {} has NaN or infinity in other places", who)};
}

constexpr const char* still = "the process stood still";

/// Judges a run without the frames that a standstill delayed.
gate_result judge_undisturbed(const gate& of, const run_record& record) {
  const auto rest = without_held_up(record);
  const auto held_up = record.frames.size() - rest.frames.size();
  if (rest.frames.empty()) {
    return not_judged(of, fmt::format("{}, which held up all frames", still));
  }
  auto result = judge_frames(of, rest, summarize(rest));
  if (held_up == 0) return result;
  result.why += fmt::format("{}without {} frame{} held up while {}", result.why.empty() ? "" : "; ",
                            held_up, held_up == 1 ? "" : "s", still);
  return result;
}

// ---- Comparisons --------------------------------------------------------------------------------

/// Change of a configuration's metric relative to its reference.
struct change {
  std::string who;  ///< quoted name of the configuration
  graphline::figure figure = graphline::figure::p50;
  double by = 0;                  ///< see `comparison::change`
  std::optional<interval> range;  ///< 95 % interval of `by`
  graphline::verdict verdict = graphline::verdict::inconclusive;

  /// Returns the smallest slowdown in the interval, as a fraction.
  double least() const {
    return figure == graphline::figure::throughput ? -range->high : range->low;
  }

  /// Formats "+5.1 %", or "+5.1 points" for late frames.
  std::string in_words(double by_so_much) const {
    if (figure == graphline::figure::late) return fmt::format("{:+.3g} points", 100 * by_so_much);
    return to_text({by_so_much, unit::change});
  }
};

/// Returns true if a change makes the gate fail.
bool fails(const gate& of, const change& one) {
  if (of.metric == inconclusive_verdict) return one.verdict == verdict::inconclusive;
  return one.verdict == verdict::slower && one.least() > of.limit;
}

/// @param lacking Reason why the gate must not pass; empty if there is none.
/// @param undated Number of configurations that "late" ignores because they have no deadline.
gate_result judge_changes(const gate& of, const std::vector<change>& changes, double tail,
                          const std::string& lacking, std::size_t undated) {
  const bool of_verdict = of.metric == inconclusive_verdict;
  const change* worst = nullptr;  // the first of inconclusive ones
  std::size_t beyond = 0;
  std::size_t inconclusive = 0;
  for (const auto& one : changes) {
    inconclusive += one.verdict == verdict::inconclusive ? 1 : 0;
    if (!fails(of, one)) continue;
    ++beyond;
    if (worst == nullptr || (!of_verdict && one.least() > worst->least())) worst = &one;
  }
  if (worst == nullptr) {
    if (!lacking.empty()) return not_judged(of, lacking);
    return {of,
            gate_outcome::passed,
            {},
            fmt::format("{} of {} verdicts inconclusive{}", inconclusive, changes.size(),
                        undated == 0 ? "" : fmt::format("; {} without a deadline", undated))};
  }
  std::string which = fmt::format("{} of {}", figure_name(worst->figure, tail), worst->who);
  if (worst->range) {
    which += fmt::format(", 95 % interval {} to {}", worst->in_words(worst->range->low),
                         worst->in_words(worst->range->high));
  }
  if (beyond > 1) which += fmt::format("; the {} of {}", of_verdict ? "first" : "worst", beyond);
  if (worst->figure == figure::late) {
    return {of, gate_outcome::failed, {}, fmt::format("{} {}", worst->in_words(worst->by), which)};
  }
  return {of, gate_outcome::failed, quantity{worst->by, unit::change}, std::move(which)};
}

std::string no_interval(const std::string& who, std::string_view figure, std::size_t trials,
                        std::size_t needed) {
  if (trials >= needed) return fmt::format("{} has too few frames for a {}", who, figure);
  return fmt::format("a verdict on {} needs {} trials, there are {}", who, needed, trials);
}

constexpr const char* nothing_to_compare = "the experiment has nothing to compare";

constexpr const char* late_share = "share of late frames";

std::string overloaded(const std::string& who) {
  return fmt::format("{} is overloaded: its latency grows with the length of a trial", who);
}

std::string name_of(const experiment_record& record, const configuration_member& of) {
  const auto& [name, assignments, members] = record.configurations[of.configuration];
  if (members.size() < 2) return quote(name, 200);
  return fmt::format("{} in {}", quote(members[of.member], 200), quote(name, 200));
}

const member_summary& member_of(const experiment_summary& summary, const configuration_member& of) {
  return summary.configurations[of.configuration].members[of.member];
}

std::string without_deadline(const std::string& who) {
  return fmt::format("{} has no deadline", who);
}

std::string why_not_compared(bool late, const experiment_record& record,
                             const experiment_summary& summary, const compared_pair& pair) {
  for (const auto& one : {pair.what, pair.reference}) {
    if (member_of(summary, one).latency_grows()) return overloaded(name_of(record, one));
  }
  return no_interval(name_of(record, pair.what), late ? late_share : "p50", summary.counted_blocks,
                     summary.needed_blocks);
}

std::string range_text(const interval& of) {
  return fmt::format("{} to {}", format_duration(of.low), format_duration(of.high));
}

}  // namespace

gate parse_gate(std::string_view text, gated what) {
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("--fail-if {}: {}", quote(text, 200), why));
  };
  const bool of_run = what == gated::run;
  std::vector<std::string> of_times;
  for (const auto& [name, p] : shown_percentiles) of_times.emplace_back(name);
  of_times.insert(of_times.end(), {"mean", "max"});
  auto of_runs = of_times;
  of_runs.insert(of_runs.end(), {"late", device_memory, output_error});
  const std::vector<std::string> of_comparisons{"slower", "late", inconclusive_verdict};
  const auto& known = of_run ? of_runs : of_comparisons;
  const auto& others = of_run ? of_comparisons : of_runs;

  const auto greater = text.find('>');
  std::string metric(trimmed(text.substr(0, greater)));
  const bool limitless = metric == inconclusive_verdict;
  if (greater == text.npos && !limitless) {
    refuse(fmt::format("expected METRIC > LIMIT, in quotes for the shell: '{}'",
                       of_run ? "p99>20ms" : "slower>5%"));
  }
  gate result{std::string(trimmed(text)), metric};
  if (of_run) {
    for (const auto& name : of_times) {
      const auto rest = std::string_view(metric).size() - std::min(metric.size(), name.size() + 1);
      if (rest == 0 || std::string_view(metric).substr(rest) != '.' + name) continue;
      result.stage = metric.substr(0, rest);
      metric = result.metric = name;
      break;
    }
  }
  const bool is_known = std::ranges::find(known, metric) != known.end();
  if (!is_known && std::ranges::find(others, metric) != others.end()) {
    refuse(fmt::format("{} is a metric of {} (known here: {})", quote(metric),
                       of_run ? "'compare' and 'diff'" : "'run'", fmt::join(known, ", ")));
  }
  if (!is_known) {
    refuse(fmt::format("unknown metric {}{}", quote(metric), suggestion(metric, known)));
  }
  if (limitless) {
    if (greater != text.npos) refuse("'inconclusive' has no limit; write it alone");
    return result;
  }
  const std::string limit(trimmed(text.substr(greater + 1)));
  result.text =
      fmt::format("{}{}{}>{}", result.stage, result.stage.empty() ? "" : ".", metric, limit);
  for (const auto& [name, p] : shown_percentiles) {
    if (metric == name) result.percentile = p;
  }
  // Returns the limit, which must be above zero.
  const auto positive = [&](std::optional<double> value, const char* expected,
                            const char* example) {
    if (value.value_or(0) <= 0) {
      refuse(fmt::format("expected {} after '>', found {}: {}>{}", expected, quote(limit), metric,
                         example));
    }
    return *value;
  };
  if (metric == device_memory) {
    result.limit = positive(parse_bytes(limit), "an amount above zero with its unit", "2GiB");
  } else if (metric == output_error) {
    result.limit = positive(parse_number(limit), "a number above zero", "1e-3");
  } else if (of_run && metric != "late") {
    result.limit = positive(parse_duration(limit),
                            "a time above zero with its unit, ns, us, ms or s,", "20ms");
  } else if (metric == "late" && !of_run) {
    constexpr std::string_view points = "points";
    const auto number = limit.ends_with(points)
                            ? parse_percent(limit.substr(0, limit.size() - points.size()) + '%')
                            : std::nullopt;
    if (!number || *number >= 1) {
      refuse(fmt::format("expected percentage points below 100 after '>', found {}: late>2points",
                         quote(limit)));
    }
    result.limit = *number;
  } else {
    const auto part = parse_percent(limit).value_or(-1);
    if (part < 0 || (of_run && part >= 1)) {
      refuse(fmt::format("expected a percentage{} after '>', found {}: {}>5%",
                         of_run ? " below 100%" : "", quote(limit), metric));
    }
    result.limit = part;
  }
  return result;
}

std::string why_never_judged(const gate& of, const plan& planned) {
  const settings& run = planned.run;
  if (of.metric == "late") return run.deadline ? "" : no_deadline;
  if (!of.stage.empty()) {
    std::vector<std::string> names;
    for (const auto& stage : planned.stages) names.push_back(stage.name);
    if (std::ranges::find(names, of.stage) == names.end()) {
      return fmt::format("the pipeline has no stage {}{}", quote(of.stage, 200),
                         suggestion(of.stage, names));
    }
    if (run.timing == timing_method::none) return "timing=none measures no stage times";
  }
  const auto needed = of.percentile ? samples_needed(*of.percentile) : 0;
  return static_cast<std::int64_t>(needed) > run.frames ? too_few_frames(of, needed, run.frames)
                                                        : "";
}

std::string why_never_judged(const gate& of, const experiment_plan& planned, std::size_t ranks) {
  if (planned.pairs.empty()) return nothing_to_compare;
  const auto has_deadline = [&](const configuration_member& one) {
    return planned.configurations[one.configuration].members[one.member].run.deadline.has_value();
  };
  const auto is_dated = [&](const compared_pair& pair) {
    return has_deadline(pair.what) && has_deadline(pair.reference);
  };
  if (of.metric == "late" && std::ranges::none_of(planned.pairs, is_dated)) {
    return "no two configurations that are compared have a deadline, which 'deadline' sets in a "
           "pipeline's 'run' section or in an experiment's 'set'";
  }
  const auto trials = planned.how.trials;
  const std::size_t needed = blocks_needed(ranks);
  if (trials >= static_cast<std::int64_t>(needed)) return "";
  return fmt::format("a verdict needs {} trials of each configuration, and there will be {}",
                     needed, trials);
}

gate_result judge(const gate& of, const run_record& record, const run_summary& summary) {
  if (const auto why = why_ended(record.interrupted, record.failure); !why.empty()) {
    return not_judged(of, "the run " + why);
  }
  if (of.metric == device_memory) {
    return judged(of, {static_cast<double>(record.memory.device_bytes), unit::bytes});
  }
  if (of.metric == output_error) return judge_outputs(of, record);
  const bool disturbed = stood_still(record) && !record.frames.empty();
  return disturbed ? judge_undisturbed(of, record) : judge_frames(of, record, summary);
}

gate_result judge(const gate& of, const experiment_record& record,
                  const experiment_summary& summary) {
  if (const auto why = why_ended(record.interrupted, record.failure); !why.empty()) {
    return not_judged(of, "the experiment " + why);
  }
  const bool late = of.metric == "late";
  std::string lacking = record.pairs.empty() ? nothing_to_compare : "";
  std::vector<std::string> undated;
  for (const auto& pair : record.pairs) {
    const auto& what = member_of(summary, pair.what);
    const auto& reference = member_of(summary, pair.reference);
    if (late && (!what.deadline || !reference.deadline)) {
      undated.push_back(name_of(record, what.deadline ? pair.reference : pair.what));
      continue;
    }
    const auto* found = find_comparison(summary, pair, late ? figure::late : figure::p50);
    // In longer trials, more frames of an overloaded reference are late, so `faster` remains valid.
    const bool grows = what.latency_grows() || reference.latency_grows();
    const bool lasts = !grows || (found != nullptr && found->verdict == verdict::faster);
    if (found != nullptr && found->change_range() && lasts) continue;
    lacking = why_not_compared(late, record, summary, pair);
  }
  if (!undated.empty() && undated.size() == record.pairs.size()) {
    lacking = without_deadline(undated.back());
  }
  std::vector<change> changes;
  for (const auto& one : summary.comparisons) {
    if ((one.figure == figure::late) != late) continue;
    changes.push_back({name_of(record, one.pair.what), one.figure, one.change(), one.change_range(),
                       one.verdict});
  }
  return judge_changes(of, changes, record.how.tail, lacking, undated.size());
}

gate_result judge(const gate& of, const experiment_diff& diff) {
  const auto& [before, after] = diff.files;
  for (const auto& [file, interrupted, failure] :
       {std::tuple(before, diff.interrupted.before, diff.failure.before),
        std::tuple(after, diff.interrupted.after, diff.failure.after)}) {
    const auto why = why_ended(interrupted, failure);
    if (!why.empty()) return not_judged(of, file + ' ' + why);
  }
  std::string lacking = diff.changes.empty() ? "no configuration was measured in both" : "";
  if (!diff.only_before.empty()) {
    lacking = fmt::format("{} is not in {}", quote(diff.only_before.front(), 200), after);
  }
  const bool late = of.metric == "late";
  const auto judged = late ? figure::late : figure::p50;
  std::vector<change> changes;
  std::vector<std::string> undated;
  for (auto next = diff.changes.begin(); next != diff.changes.end();) {
    // The metrics of a configuration are adjacent.
    const auto first = next;
    next = std::find_if(first, diff.changes.end(),
                        [&](const configuration_change& one) { return one.name != first->name; });
    const std::span figures(first, next);
    const auto who = quote(first->name, 200);
    const auto found = std::ranges::find(figures, judged, &configuration_change::figure);
    const bool has_figure = found != figures.end();
    if (late && !has_figure) {
      undated.push_back(who);
      continue;
    }
    const auto is_open = [](const configuration_change& one) {
      return one.overloaded && one.verdict != verdict::faster;
    };
    if (late ? is_open(*found) : std::ranges::any_of(figures, is_open)) {
      lacking = overloaded(who);
    } else if (!has_figure || !found->change_range()) {
      lacking = no_interval(who, late ? late_share : "p50",
                            std::min(first->trials.before, first->trials.after), diff.needed);
    }
    for (const auto& one : figures) {
      if ((one.figure == figure::late) != late) continue;
      changes.push_back(
          {who, one.figure, one.change().value_or(0), one.change_range(), one.verdict});
    }
  }
  if (changes.empty() && !undated.empty()) lacking = without_deadline(undated.front());
  return judge_changes(of, changes, diff.tail.before, lacking, undated.size());
}

gate_result judge(const gate& of, const analyzed_run& before, const analyzed_run& after) {
  if (of.metric == "late") {
    return not_judged(of, "late frames are compared of two results of 'compare', not of two runs");
  }
  std::optional<interval> ranges[2];
  double medians[2] = {};
  for (const auto* run : {&before, &after}) {
    const auto& [file, record, analysis] = *run;
    if (const auto why = why_ended(record.interrupted, record.failure); !why.empty()) {
      return not_judged(of, file + ' ' + why);
    }
    if (stood_still(record)) return not_judged(of, fmt::format("{} during {}", still, file));
    const auto& times = analysis.summary.end_to_end;
    if (times && !times->why_unsettled().empty()) {
      return not_judged(of, fmt::format("{} is {}", file, times->why_unsettled()));
    }
    const auto& list = analysis.intervals;
    const auto p50 = std::ranges::find(list, 0.5, &percentile_interval::p);
    const auto median = p50_of(times);
    if (p50 == list.end() || !p50->low || !p50->high || median.value_or(0) <= 0) {
      return not_judged(of, fmt::format("the frames of {} carry no interval of p50", file));
    }
    ranges[run == &after] = {static_cast<double>(*p50->low), static_cast<double>(*p50->high)};
    medians[run == &after] = *median;
  }
  const double change = medians[1] / medians[0] - 1;
  const double least = ranges[1]->low / ranges[0]->high - 1;
  const double most = ranges[1]->high / ranges[0]->low - 1;
  const double margin = experiment_settings{}.margin;
  const bool undecided = least <= 0 && most >= 0 && std::max(-least, most) > margin;
  const bool of_verdict = of.metric == inconclusive_verdict;
  const bool slower = ranges[1]->low > ranges[0]->high * (1 + of.limit);
  const bool fails = of_verdict ? undecided : slower;
  return {
      of, fails ? gate_outcome::failed : gate_outcome::passed, quantity{change, unit::change},
      fmt::format(
          "{}95 % interval of p50 {} before, {} after",
          !of_verdict && !fails && change > of.limit ? "inconclusive, more frames needed: " : "",
          range_text(*ranges[0]), range_text(*ranges[1]))};
}

}  // namespace graphline
