#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "framework/analysis/gate.hpp"
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

const gate slower = parse_gate("slower>5%", gated::comparison);

/// Judges a configuration with the given comparisons.
gate_result of_verdicts(const std::vector<samples::made_comparison>& made,
                        const gate& of = slower) {
  const auto record =
      made_experiment("e", {samples::made_of({{"a", "1"}}), samples::made_of({{"a", "2"}})}, 5);
  auto summary = samples::figures_of(record);
  for (const auto& one : made) samples::add_comparison(summary, record, one);
  return judge(of, record, summary);
}

TEST(gate_of_an_experiment, fails_if_the_interval_lies_beyond_the_limit) {
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
  // A significant change within the margin is not slower.
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
  // Higher throughput does not fail the gate.
  EXPECT_EQ(of_verdicts({same, {0, figure::throughput, 1.2, 1.3, verdict::faster}}).outcome,
            gate_outcome::passed);
}

/// Two configurations; all frames of the second are late.
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

TEST(gate_of_an_experiment, does_not_judge_late_frames_without_a_deadline) {
  const auto record =
      made_experiment("e", {samples::made_of({{"a", "1"}}), samples::made_of({{"a", "2"}})}, 5);
  const auto found =
      judge(parse_gate("late>1points", gated::comparison), record, summarize(record));
  EXPECT_EQ(found.outcome, gate_outcome::not_judged);
  EXPECT_EQ(found.why, "'a=2' has no deadline");
}

TEST(gate_of_an_experiment, judges_the_late_frames_of_those_that_have_a_deadline) {
  const auto with_deadlines = [](std::vector<nanoseconds> deadlines, nanoseconds time) {
    auto record = made_experiment("e",
                                  {samples::made_of({{"a", "1"}}, samples::taking(74 * ms)),
                                   samples::made_of({{"a", "2"}}, samples::taking(time)),
                                   samples::made_of({{"a", "3"}}, samples::taking(90 * ms))},
                                  5);
    for (auto& trial : record.trials) {
      const auto limit = deadlines[trial.configuration];
      if (limit > 0) trial.members[0].run.deadline = limit;
    }
    return judge(parse_gate("late>2points", gated::comparison), record, summarize(record));
  };
  EXPECT_EQ(with_deadlines({80 * ms, 80 * ms, 0}, 90 * ms).outcome, gate_outcome::failed);
  const auto passed = with_deadlines({80 * ms, 80 * ms, 0}, 74 * ms);
  EXPECT_EQ(passed.outcome, gate_outcome::passed);
  EXPECT_THAT(passed.why, EndsWith("of 1 verdicts inconclusive; 1 without a deadline"));
  EXPECT_EQ(with_deadlines({0, 80 * ms, 80 * ms}, 90 * ms).why, "'a=1' has no deadline");
}

/// Five trials of a configuration that meets its deadline, and of one that completes a frame every
/// 20 ms while one is due every 10 ms.
experiment_record overloaded_beside_one_on_time() {
  auto record =
      made_experiment("e", {samples::made_of({{"a", "1"}}), samples::made_of({{"a", "2"}})}, 5);
  for (auto& trial : record.trials) {
    auto& run = trial.members[0];
    run = {};
    run.pipeline = "two_models";
    run.run.arrival = arrival::constant;
    run.run.rate = 100;
    run.run.deadline = 50 * ms;
    for (nanoseconds i = 0; i < 100; ++i) {
      const auto due = i * 10 * ms;
      const auto begin = trial.configuration == 0 ? due : i * 20 * ms;
      run.frames.push_back({due, begin, begin + (trial.configuration == 0 ? 5 : 20) * ms});
    }
  }
  return record;
}

TEST(gate_of_an_experiment, fails_for_an_overloaded_configuration_beyond_the_limit) {
  const auto late = parse_gate("late>2points", gated::comparison);
  auto record = overloaded_beside_one_on_time();
  const auto summary = summarize(record);
  ASSERT_TRUE(summary.configurations[1].members[0].latency_grows());
  const auto* found = find_comparison(summary, record.pairs[0], figure::late);
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->change(), 0.96);  // all but the first four: 20, 30, 40 and 50 ms
  EXPECT_EQ(found->verdict, verdict::slower);
  EXPECT_EQ(find_comparison(summary, record.pairs[0], figure::p50), nullptr);
  EXPECT_EQ(judge(late, record, summary).outcome, gate_outcome::failed);
  const auto within = judge(parse_gate("late>99points", gated::comparison), record, summary);
  EXPECT_EQ(within.why, "'a=2' is overloaded: its latency grows with the length of a trial");

  std::swap(record.pairs[0].what, record.pairs[0].reference);
  const auto turned = summarize(record);
  EXPECT_EQ(find_comparison(turned, record.pairs[0], figure::late)->verdict, verdict::faster);
  EXPECT_EQ(judge(late, record, turned).outcome, gate_outcome::passed);

  const auto diff = compare(record, record, {"a.json", "b.json"});
  for (const auto& change : diff.changes) {  // longer trials have even more late frames
    if (change.figure == figure::late && change.overloaded) {
      EXPECT_EQ(change.verdict, verdict::inconclusive);
    }
  }
  EXPECT_EQ(judge(late, diff).why,
            "'a=2' is overloaded: its latency grows with the length of a trial");
}

TEST(gate_of_an_experiment, explains_before_the_first_trial_why_it_cannot_judge) {
  experiment_plan planned;
  planned.configurations.resize(2);
  for (auto& one : planned.configurations) one.members.resize(1);
  const auto why = [&planned](const char* text) {
    return why_never_judged(parse_gate(text, gated::comparison), planned);
  };
  EXPECT_EQ(why("slower>5%"), "the experiment has nothing to compare");
  planned.pairs = {{{1, 0}, {0, 0}}};
  planned.how.trials = 5;
  EXPECT_EQ(why("slower>5%"), "");
  EXPECT_THAT(why("late>2points"), HasSubstr("have a deadline"));
  planned.configurations[0].members[0].run.deadline = 20 * ms;
  EXPECT_THAT(why("late>2points"), HasSubstr("have a deadline"));
  planned.configurations[1].members[0].run.deadline = 30 * ms;
  EXPECT_EQ(why("late>2points"), "");
  planned.how.trials = 4;
  for (const auto* text : {"late>2points", "slower>5%"}) {
    EXPECT_EQ(why(text), "a verdict needs 5 trials of each configuration, and there will be 4");
  }
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

TEST(gate_of_an_experiment, finds_slower_frames) {
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

TEST(gate_of_two_experiments, uses_the_verdicts_on_the_second) {
  const auto outcome = [](double low, double high, verdict found) {
    return judge(slower, experiments({changed(figure::p50, low, high, found)})).outcome;
  };
  EXPECT_EQ(outcome(1.06, 1.14, verdict::slower), gate_outcome::failed);
  EXPECT_EQ(outcome(1.04, 1.14, verdict::slower), gate_outcome::passed);
  EXPECT_EQ(outcome(0.9, 1.3, verdict::inconclusive), gate_outcome::passed);
}

TEST(gate_of_two_experiments, fails_with_a_verdict_that_is_inconclusive) {
  const auto open = parse_gate(" inconclusive ", gated::comparison);
  const auto one = changed(figure::p50, 0.9, 3.3, verdict::inconclusive);
  EXPECT_EQ(judge(slower, experiments({one})).outcome, gate_outcome::passed);
  const auto found = judge(open, experiments({one}));
  EXPECT_EQ(found.outcome, gate_outcome::failed);
  EXPECT_EQ(found.why, "p50 of 'x', 95 % interval -10.0 % to +230 %");
  for (const auto clear : {verdict::slower, verdict::same, verdict::faster}) {
    const auto known = changed(figure::p50, 0.9, 1.3, clear);
    EXPECT_EQ(judge(open, experiments({known})).outcome, gate_outcome::passed);
    auto late = changed(figure::late, 0.9, 1.3, verdict::inconclusive);
    EXPECT_EQ(judge(open, experiments({known, late})).outcome, gate_outcome::passed);
  }
}

TEST(gate_of_two_experiments, is_not_judged_by_incomplete_experiments) {
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
  // A verdict on throughput alone says nothing about times.
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
  EXPECT_EQ(judge(late, experiments({withheld})).why, "'x' has no deadline");
  more.overloaded = true;
  more.difference_range = interval{0.05, 0.15};
  EXPECT_EQ(judge(late, experiments({withheld, more})).outcome, gate_outcome::failed);
  more.difference_range = interval{0.019, 0.15};
  EXPECT_EQ(judge(late, experiments({withheld, more})).why,
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

TEST(gate_of_two_runs, fails_if_the_distance_of_intervals_exceeds_the_limit) {
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

TEST(gate_of_two_runs, fails_if_inconclusive_unless_apart_or_within_the_margin) {
  const auto open = parse_gate("inconclusive", gated::comparison);
  const auto outcome = [&](interval before, interval after) {
    return judge(open, saved(1000, before), saved(1000, after)).outcome;
  };
  EXPECT_EQ(outcome({980, 1020}, {1010, 3000}), gate_outcome::failed);
  EXPECT_EQ(outcome({980, 1020}, {1021, 3000}), gate_outcome::passed);  // slower
  EXPECT_EQ(outcome({980, 1020}, {900, 979}), gate_outcome::passed);    // faster
  EXPECT_EQ(outcome({998, 1001}, {1000, 1003}), gate_outcome::passed);  // within 1 %
  EXPECT_EQ(outcome({998, 1001}, {1000, 1020}), gate_outcome::failed);
}

TEST(gate_of_two_runs, is_not_judged_without_an_interval) {
  const auto whole = saved(100, interval{98, 102});
  EXPECT_EQ(judge(slower, whole, saved(100, {})).outcome, gate_outcome::not_judged);
  auto ended = saved(100, interval{98, 102});
  ended.record.interrupted = true;
  EXPECT_EQ(judge(slower, ended, whole).why, "r.json was interrupted");
}

}  // namespace
}  // namespace graphline
