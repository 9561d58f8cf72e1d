#include "framework/analysis/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::made_experiment;
using samples::ms;
using ::testing::DoubleNear;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(std::string_view text, gated what = gated::run) {
  try {
    parse_gate(text, what);
  } catch (const input_error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << text << " was taken";
  return "";
}

TEST(parse_gate, takes_every_metric_of_a_run) {
  for (const char* metric : {"p50", "p90", "p95", "p99", "p99.9", "p99.99", "mean", "max"}) {
    const auto made = parse_gate(std::string(" ") + metric + " > 1.5us ", gated::run);
    EXPECT_EQ(made.text, std::string(metric) + ">1.5us");
    EXPECT_EQ(made.metric, metric);
    EXPECT_EQ(made.limit, 1500);
  }
  EXPECT_EQ(parse_gate("late>0.5%", gated::run).limit, 0.005);
  EXPECT_EQ(parse_gate("slower>250%", gated::comparison).limit, 2.5);
  EXPECT_EQ(parse_gate("slower>0%", gated::comparison).limit, 0);
}

TEST(parse_gate, names_the_option_and_what_would_be_right) {
  EXPECT_EQ(refusal("p98>20ms"),
            "--fail-if 'p98>20ms': unknown metric 'p98' (known: p50, p90, p95, p99, p99.9, p99.99, "
            "mean, max, late)");
  EXPECT_EQ(refusal("p99"),  // all that a shell leaves of p99>20ms
            "--fail-if 'p99': expected METRIC > LIMIT, in quotes for the shell: 'p99>20ms'");
  EXPECT_THAT(refusal("slower<5%", gated::comparison), HasSubstr("'slower>5%'"));
  for (const char* limit : {"", "20", "ms", "0ms", "-1ms", "=20ms", "20ms>1", "5%", "nan ms"}) {
    EXPECT_THAT(refusal(std::string("p99>") + limit), HasSubstr("expected a time above zero"));
  }
  for (const char* limit : {"", "1", "100%", "-1%", "nan%", "inf%", "1%%", "1ms"}) {
    EXPECT_THAT(refusal(std::string("late>") + limit), HasSubstr("a percentage below 100%"));
  }
}

gate_result of_run(const std::string& condition, const run_record& record) {
  return judge(parse_gate(condition, gated::run), record, summarize(record));
}

/// Frames of 1, 2, 3, ... ms.
run_record counting(std::size_t frames) {
  run_record record;
  for (std::size_t i = 0; i < frames; ++i) {
    const auto begin = static_cast<nanoseconds>(i * 1000) * ms;
    record.frames.push_back({begin, begin, begin + static_cast<nanoseconds>(i + 1) * ms});
  }
  return record;
}

TEST(gate_of_a_run, fails_above_the_limit_and_not_at_it) {
  const auto record = counting(100);
  for (const auto& [metric, value] :
       {std::pair("p50", 50.0), {"p90", 90.0}, {"p95", 95.0}, {"max", 100.0}, {"mean", 50.5}}) {
    const auto at = of_run(metric + (">" + std::to_string(value)) + "ms", record);
    EXPECT_EQ(at.outcome, gate_outcome::passed) << metric;
    EXPECT_THAT(at.value->value, DoubleNear(value * ms, 1)) << metric;
    const auto below = of_run(metric + (">" + std::to_string(value - 0.001)) + "ms", record);
    EXPECT_EQ(below.outcome, gate_outcome::failed) << metric;
  }
}

TEST(gate_of_a_run, is_not_judged_by_a_percentile_that_the_frames_do_not_carry) {
  const auto found = of_run("p99>1s", counting(298));
  EXPECT_EQ(found.outcome, gate_outcome::not_judged);
  EXPECT_EQ(found.why, "p99 needs 299 frames, the run has 298");
  EXPECT_EQ(of_run("p99>1s", counting(299)).outcome, gate_outcome::passed);
  EXPECT_EQ(of_run("max>1s", run_record()).outcome, gate_outcome::not_judged);
}

TEST(gate_of_a_run, says_before_the_run_what_it_can_never_judge) {
  settings run;
  const auto why = [&run](const char* text) {
    return why_never_judged(parse_gate(text, gated::run), run);
  };
  run.frames = 298;
  EXPECT_EQ(why("p99>1s"), "p99 needs 299 frames, the run has 298");
  EXPECT_EQ(why("p50>1s"), "");
  EXPECT_EQ(why("max>1s"), "");
  EXPECT_THAT(why("late>1%"), HasSubstr("has no deadline"));
  run.frames = 299;
  run.deadline = 20 * ms;
  EXPECT_EQ(why("p99>1s"), "");
  EXPECT_EQ(why("late>1%"), "");
}

TEST(gate_of_a_run, counts_dropped_frames_as_late) {
  auto record = counting(8);
  EXPECT_THAT(of_run("late>1%", record).why, HasSubstr("has no deadline"));
  EXPECT_EQ(of_run("late>1%", record).outcome, gate_outcome::not_judged);
  record.run.deadline = 7 * ms;
  record.load.dropped = {1, 2};
  const auto late = of_run("late>29.9%", record);
  EXPECT_EQ(late.outcome, gate_outcome::failed);
  EXPECT_EQ(late.why, "3 of 10 frames");
  EXPECT_EQ(of_run("late>30%", record).outcome, gate_outcome::passed);
}

TEST(gate_of_a_run, is_not_judged_where_the_run_did_not_come_to_its_end) {
  auto record = counting(100);
  record.interrupted = true;
  EXPECT_EQ(of_run("p50>1ms", record).why, "the run was interrupted");
  record.failure = "stage 'read', frame 4: no more";
  EXPECT_EQ(of_run("p50>1s", record).outcome, gate_outcome::not_judged);
  EXPECT_EQ(of_run("p50>1s", record).why, "the run failed: stage 'read', frame 4: no more");
}

TEST(gate_of_a_run, judges_no_frame_that_was_held_up_while_the_process_stood_still) {
  auto record = counting(100);
  record.run.deadline = 100 * ms;
  record.frames[9].end += 700 * ms;
  record.load.dropped = {record.frames[9].due + 300 * ms};
  EXPECT_EQ(of_run("max>100ms", record).outcome, gate_outcome::failed);
  EXPECT_EQ(of_run("late>1%", record).outcome, gate_outcome::failed);
  record.conditions.emplace().standstills = {{record.frames[9].begin + ms, 690 * ms}};
  for (const auto* condition : {"max>100ms", "late>0%"}) {
    const auto found = of_run(condition, record);
    EXPECT_EQ(found.outcome, gate_outcome::passed) << condition;
    EXPECT_THAT(found.why, EndsWith("without 1 frame held up while the process stood still"));
  }
  EXPECT_EQ(of_run("max>99ms", record).outcome, gate_outcome::failed);
  EXPECT_EQ(of_run("mean>50.91ms", record).outcome, gate_outcome::passed);
  EXPECT_EQ(of_run("mean>50.90ms", record).outcome, gate_outcome::failed);
  record.frames.resize(9);
  EXPECT_EQ(of_run("max>9ms", record).why, "");  // of a standstill that held up no frame
  record.conditions->standstills = {{0, 9'000'000 * ms}};
  EXPECT_EQ(of_run("max>9ms", record).outcome, gate_outcome::not_judged);
  EXPECT_EQ(of_run("max>9ms", record).why, "the process stood still, which held up all frames");
}

TEST(gate_of_a_run, lets_an_overloaded_one_not_pass) {
  auto record = samples::overloaded_two_models(100);
  record.run.deadline = 3600'000 * ms;
  for (const char* condition : {"p50>1000s", "mean>1000s", "max>1000s", "late>5%"}) {
    EXPECT_EQ(of_run(condition, record).outcome, gate_outcome::not_judged) << condition;
    EXPECT_THAT(of_run(condition, record).why, HasSubstr("overloaded")) << condition;
  }
  for (const char* condition : {"max>1ms", "p50>1ms", "p95>1ms", "mean>1ms"}) {
    EXPECT_EQ(of_run(condition, record).outcome, gate_outcome::failed) << condition;
  }
}

const gate slower = parse_gate("slower>5%", gated::comparison);

/// Verdicts on a configuration, each with its interval.
gate_result of_verdicts(const std::vector<samples::made_comparison>& made,
                        const gate& of = slower) {
  const auto record =
      made_experiment("e", {samples::made_of({{"a", "1"}}), samples::made_of({{"a", "2"}})}, 5);
  auto summary = samples::figures_of(record);
  for (const auto& one : made) samples::add_comparison(summary, record, one);
  return judge(of, record, summary);
}

TEST(gate_of_an_experiment, fails_where_the_whole_interval_lies_beyond_the_limit) {
  const auto found = of_verdicts({{0, figure::p50, 1.051, 1.08, verdict::slower}});
  EXPECT_EQ(found.outcome, gate_outcome::failed);
  EXPECT_EQ(found.why, "p50 of 'a=2', 95 % interval +5.10 % to +8.00 %");
  EXPECT_EQ(of_verdicts({{0, figure::p50, 1.049, 1.08, verdict::slower}}).outcome,
            gate_outcome::passed);
  EXPECT_EQ(of_verdicts({{0, figure::p50, 0.8, 0.9, verdict::faster}}).outcome,
            gate_outcome::passed);
}

TEST(gate_of_an_experiment, fails_on_a_verdict_and_not_on_noise) {
  const auto found = of_verdicts({{0, figure::p50, 0.99, 1.5, verdict::inconclusive}});
  EXPECT_EQ(found.outcome, gate_outcome::passed);
  EXPECT_EQ(found.why, "1 of 1 verdicts inconclusive");
  // Within the margin: certain, and not called slower.
  const auto any = parse_gate("slower>0%", gated::comparison);
  EXPECT_EQ(of_verdicts({{0, figure::p50, 1.002, 1.004, verdict::same}}, any).outcome,
            gate_outcome::passed);
}

TEST(gate_of_an_experiment, judges_tail_and_throughput_too_and_names_the_worst) {
  const samples::made_comparison same{0, figure::p50, 0.999, 1.001, verdict::same};
  const samples::made_comparison tail{0, figure::tail, 1.10, 1.20, verdict::slower};
  const samples::made_comparison less{0, figure::throughput, 0.80, 0.85, verdict::slower};
  EXPECT_THAT(of_verdicts({same, tail}).why, HasSubstr("p95 of 'a=2'"));
  const auto both = of_verdicts({same, tail, less});
  EXPECT_EQ(both.outcome, gate_outcome::failed);
  EXPECT_EQ(both.why, "throughput of 'a=2', 95 % interval -20.0 % to -15.0 %; the worst of 2");
  // More frames a second are no harm.
  EXPECT_EQ(of_verdicts({same, {0, figure::throughput, 1.2, 1.3, verdict::faster}}).outcome,
            gate_outcome::passed);
}

/// Two configurations of which all frames of the second are late.
gate_result of_late_frames(const char* condition, double low, double high, verdict found) {
  auto record = made_experiment("e",
                                {samples::made_of({{"a", "1"}}, samples::taking(74 * ms)),
                                 samples::made_of({{"a", "2"}}, samples::taking(90 * ms))},
                                5);
  for (auto& trial : record.trials) trial.members[0].run.deadline = 80 * ms;
  auto summary = samples::figures_of(record);
  samples::add_comparison(summary, record, {0, figure::p50, 0.999, 1.001, verdict::same});
  samples::add_comparison(summary, record, {0, figure::late, low, high, found});
  return judge(parse_gate(condition, gated::comparison), record, summary);
}

TEST(gate_of_an_experiment, judges_late_frames_by_points) {
  const auto beyond = of_late_frames("late>2points", 0.021, 0.99, verdict::slower);
  EXPECT_EQ(beyond.outcome, gate_outcome::failed);
  EXPECT_EQ(beyond.why,
            "+100 points late frames of 'a=2', 95 % interval +2.1 points to +99 points");
  EXPECT_EQ(of_late_frames("late>2points", 0.019, 0.9, verdict::slower).outcome,
            gate_outcome::passed);
  EXPECT_EQ(of_late_frames("late>0 points", -0.9, -0.1, verdict::faster).outcome,
            gate_outcome::passed);
  EXPECT_EQ(of_late_frames("slower>2%", 0.021, 0.99, verdict::slower).outcome,
            gate_outcome::passed);
}

TEST(gate_of_an_experiment, reads_points_and_no_other_limit_of_late_frames) {
  EXPECT_EQ(parse_gate("late>2points", gated::comparison).limit, 0.02);
  EXPECT_EQ(parse_gate("late > 0.5 points", gated::comparison).limit, 0.005);
  for (const auto* text : {"late>2%", "late>2", "late>points", "late>-1points", "late>100points"}) {
    EXPECT_THAT(refusal(text, gated::comparison), HasSubstr("late>2points")) << text;
  }
}

TEST(gate_of_an_experiment, does_not_judge_late_frames_without_a_deadline) {
  const auto record =
      made_experiment("e", {samples::made_of({{"a", "1"}}), samples::made_of({{"a", "2"}})}, 5);
  const auto found =
      judge(parse_gate("late>1points", gated::comparison), record, summarize(record));
  EXPECT_EQ(found.outcome, gate_outcome::not_judged);
  EXPECT_EQ(found.why, "'a=2' has no deadline");
}

TEST(gate_of_an_experiment, is_not_judged_without_an_interval_of_each_p50) {
  const auto none = of_verdicts({});
  EXPECT_EQ(none.outcome, gate_outcome::not_judged);
  EXPECT_EQ(none.why, "'a=2' has too few frames for a p50");
  auto record = samples::two_strategies();
  EXPECT_EQ(judge(slower, record, summarize(record)).why,
            "a verdict on 'strategy=async' needs 5 trials, there are 3");
  record.pairs.clear();
  EXPECT_THAT(judge(slower, record, summarize(record)).why, HasSubstr("nothing to compare"));
  record.interrupted = true;
  EXPECT_EQ(judge(slower, record, summarize(record)).why, "the experiment was interrupted");
}

TEST(gate_of_an_experiment, finds_in_the_frames_what_is_slower) {
  const auto outcome = [](nanoseconds second) {
    const auto record = made_experiment(
        "e", {{"one", {}, samples::taking(74 * ms)}, {"two", {}, samples::taking(second)}}, 8);
    return judge(slower, record, summarize(record)).outcome;
  };
  EXPECT_EQ(outcome(74 * ms), gate_outcome::passed);
  EXPECT_EQ(outcome(76 * ms), gate_outcome::passed);  // slower, by less
  EXPECT_EQ(outcome(85 * ms), gate_outcome::failed);
}

experiment_diff experiments(std::vector<configuration_change> changes) {
  experiment_diff diff;
  diff.files = {"a.json", "b.json"};
  diff.changes = std::move(changes);
  return diff;
}

configuration_change changed(figure what, double low, double high, verdict found) {
  return {.name = "x",
          .who = {},
          .figure = what,
          .values = {100.0, 110.0},
          .trials = {6, 6},
          .ratio_range = interval{low, high},
          .verdict = found};
}

TEST(gate_of_two_experiments, goes_by_the_verdicts_on_the_second) {
  const auto outcome = [](double low, double high, verdict found) {
    return judge(slower, experiments({changed(figure::p50, low, high, found)})).outcome;
  };
  EXPECT_EQ(outcome(1.06, 1.14, verdict::slower), gate_outcome::failed);
  EXPECT_EQ(outcome(1.04, 1.14, verdict::slower), gate_outcome::passed);
  EXPECT_EQ(outcome(0.9, 1.3, verdict::inconclusive), gate_outcome::passed);
}

TEST(gate_of_two_experiments, is_not_judged_by_half_of_them) {
  const auto fine = changed(figure::p50, 0.999, 1.001, verdict::same);
  EXPECT_EQ(judge(slower, experiments({})).outcome, gate_outcome::not_judged);
  auto diff = experiments({fine});
  diff.only_after = {"new"};
  EXPECT_EQ(judge(slower, diff).outcome, gate_outcome::passed);
  diff.only_before = {"gone"};
  EXPECT_EQ(judge(slower, diff).why, "'gone' is not in b.json");
  diff.interrupted.before = true;
  EXPECT_EQ(judge(slower, diff).why, "a.json was interrupted");
  diff.interrupted.before = false;
  diff.failure.after = "no memory";
  EXPECT_EQ(judge(slower, diff).why, "b.json failed: no memory");

  auto few = fine;
  few.ratio_range.reset();
  few.verdict = verdict::inconclusive;
  few.trials = {6, 3};
  EXPECT_EQ(judge(slower, experiments({few})).why, "a verdict on 'x' needs 5 trials, there are 3");
  // What has a verdict only on its throughput has none on its time.
  auto rate = changed(figure::throughput, 0.999, 1.001, verdict::same);
  EXPECT_EQ(judge(slower, experiments({rate})).why, "'x' has too few frames for a p50");
  rate.name = "y";
  EXPECT_EQ(judge(slower, experiments({fine, rate})).outcome, gate_outcome::not_judged);
  EXPECT_EQ(
      judge(slower, experiments({changed(figure::p50, 1.1, 1.2, verdict::slower), few})).outcome,
      gate_outcome::failed);
}

TEST(gate_of_two_experiments, judges_late_frames_by_points_and_names_overload) {
  const auto late = parse_gate("late>2points", gated::comparison);
  auto more = changed(figure::late, 0, 0, verdict::slower);
  more.ratio_range.reset();
  more.values = {0.1, 0.2};
  more.difference_range = interval{0.05, 0.15};
  const auto fine = changed(figure::p50, 0.999, 1.001, verdict::same);
  const auto found = judge(late, experiments({fine, more}));
  EXPECT_EQ(found.outcome, gate_outcome::failed);
  EXPECT_EQ(found.why, "+10 points late frames of 'x', 95 % interval +5 points to +15 points");
  EXPECT_EQ(judge(slower, experiments({fine, more})).outcome, gate_outcome::passed);
  more.difference_range = interval{0.019, 0.15};
  EXPECT_EQ(judge(late, experiments({fine, more})).outcome, gate_outcome::passed);
  EXPECT_EQ(judge(late, experiments({fine})).why, "'x' has no deadline");
  auto withheld = fine;
  withheld.ratio_range.reset();
  withheld.overloaded = true;
  EXPECT_EQ(judge(slower, experiments({withheld})).why,
            "'x' is overloaded: its latency grows with the length of a trial");
  EXPECT_EQ(judge(late, experiments({withheld})).why,
            "'x' is overloaded: its latency grows with the length of a trial");
}

analyzed_run saved(nanoseconds p50, std::optional<interval> range) {
  analyzed_run run{"r.json", {}, {}};
  run.analysis.summary.end_to_end = distribution::of(std::vector<nanoseconds>(30, p50));
  if (range) {
    run.analysis.intervals = {
        {0.5, static_cast<nanoseconds>(range->low), static_cast<nanoseconds>(range->high)}};
  }
  return run;
}

TEST(gate_of_two_runs, fails_where_the_intervals_lie_farther_apart_than_the_limit) {
  const auto before = saved(1000, interval{980, 1020});
  const auto outcome = [&](nanoseconds p50, double low) {
    const auto after = saved(p50, interval{low, static_cast<double>(p50) + 40});
    return judge(slower, before, after).outcome;
  };
  EXPECT_EQ(outcome(1200, 1072), gate_outcome::failed);  // beyond 1020 and 5 %
  EXPECT_EQ(outcome(1200, 1071), gate_outcome::passed);  // apart, by less
  EXPECT_EQ(outcome(1200, 1010), gate_outcome::passed);  // by 20 %, but not apart
  EXPECT_EQ(outcome(800, 780), gate_outcome::passed);
  const auto found = judge(slower, before, saved(1200, interval{1100, 1300}));
  EXPECT_THAT(found.value->value, DoubleNear(0.2, 1e-9));
  EXPECT_EQ(found.why, "95 % interval of p50 980 ns to 1.02 us before, 1.10 us to 1.30 us after");
  const auto open = judge(slower, before, saved(1200, interval{1010, 1300}));
  EXPECT_THAT(open.why, StartsWith("inconclusive, more frames needed: 95 % interval of p50 "));
}

TEST(gate_of_two_runs, is_not_judged_where_frames_carry_no_interval) {
  const auto whole = saved(100, interval{98, 102});
  EXPECT_EQ(judge(slower, whole, saved(100, {})).outcome, gate_outcome::not_judged);
  auto ended = saved(100, interval{98, 102});
  ended.record.interrupted = true;
  EXPECT_EQ(judge(slower, ended, whole).why, "r.json was interrupted");
}

}  // namespace
}  // namespace graphline
