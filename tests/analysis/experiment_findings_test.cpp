#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/gate.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::add_comparison;
using samples::figures_of;
using samples::findings;
using samples::for_runs_of;
using samples::made_configuration;
using samples::made_experiment;
using samples::made_of;
using samples::ms;
using samples::taking;
using samples::two_strategies;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Priorities.

experiment_record with_and_without_priorities() {
  auto record = made_experiment(
      "e", {made_of({{"priorities", "on"}}), made_of({{"priorities", "off"}}, taking(80 * ms))}, 6);
  for_runs_of(record, 1, [](run_record& run) { run.run.priorities = false; });
  return record;
}

TEST(priority_findings, report_an_effect) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 1.0700, 1.0900, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("priorities_took_effect(priorities=off) verdict=slower "
                                  "percentile=p50 with=74.0 ms without=80.0 ms change=+8.11 % "
                                  "low=+7.00 % high=+9.00 %")));
}

TEST(priority_findings, report_no_effect) {
  auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.996, 1.004, verdict::same, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("priorities_changed_nothing(priorities=off)")));
  summary.comparisons.front().verdict = verdict::inconclusive;
  EXPECT_THAT(findings(record, summary), Contains(StartsWith("priorities_inconclusive")));
}

TEST(priority_findings, use_the_tail_if_the_median_shows_no_effect) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.996, 1.004, verdict::same, {}});
  add_comparison(summary, record, {0, figure::tail, 1.07, 1.09, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary), Contains(AllOf(StartsWith("priorities_took_effect"),
                                                        HasSubstr("percentile=p95 with=74."))));
}

TEST(priority_findings, use_late_frames_if_the_median_shows_no_effect) {
  auto record = with_and_without_priorities();
  for (auto& trial : record.trials) trial.members[0].run.deadline = 78 * ms;
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.9, 1.1, verdict::inconclusive, {}});
  add_comparison(summary, record, {0, figure::late, 0.3, 0.9, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("priorities_took_effect(priorities=off) verdict=more "
                                  "percentile=late frames with=0 % without=100 % "
                                  "change=+100 points low=+30 points high=+90 points")));
}

TEST(priority_findings, require_enough_blocks) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0, 0, verdict::inconclusive, 2});
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("priorities"))));
}

TEST(priority_findings, require_pairs_that_differ_only_in_priorities) {
  auto record = with_and_without_priorities();
  record.configurations[1].assignments.emplace_back("wait", "spin");
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 1.07, 1.09, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("priorities"))));
}

// Load and machine.

/// Frames are due every 50 ms and completed every 74 ms.
made_configuration overloaded() {
  auto result = made_of({{"rate", "20"}});
  result.change = [](run_record& run) {
    run.run.arrival = arrival::constant;
    run.run.rate = 20;
    run.run.deadline = 200 * ms;
    for (std::size_t i = 0; i < run.frames.size(); ++i) {
      run.frames[i].due = static_cast<nanoseconds>(i) * 50 * ms;
    }
  };
  return result;
}

TEST(load_findings, report_overload) {
  const auto said = findings(made_experiment("e", {overloaded()}, 3));
  EXPECT_THAT(said.front(),
              AllOf(StartsWith("overloaded_in [rates_of('rate=20') offered=20.00 frame/s "
                               "completed=13."),
                    EndsWith(" rates=13.52 of 20 offered frame/s configurations='rate=20']")));
}

TEST(load_findings, exclude_growing_latency_from_comparisons) {
  auto record = made_experiment("e", {made_of({{"rate", "5"}}), overloaded()}, 6);
  for (auto& trial : record.trials) trial.members[0].run.deadline = 200 * ms;
  const auto summary = summarize(record);
  ASSERT_EQ(summary.comparisons.size(), 2U);
  EXPECT_EQ(summary.comparisons[0].figure, figure::throughput);
  EXPECT_EQ(summary.comparisons[1].figure, figure::late);
  const auto& member = summary.configurations[1].members[0];
  EXPECT_TRUE(member.latency_grows());
  EXPECT_NEAR(member.overload->offered, 20, 1e-6);
  EXPECT_FALSE(member.end_to_end->percentile(0.5));
  EXPECT_FALSE(member.tail);
  EXPECT_FALSE(member.between_trials);
  EXPECT_TRUE(summary.configurations[0].members[0].end_to_end->percentile(0.5));
  EXPECT_FALSE(narrow_enough(record, 0.5));
  const auto slower = judge(parse_gate("slower>50%", gated::comparison), record, summary);
  EXPECT_EQ(slower.outcome, gate_outcome::not_judged);
  EXPECT_EQ(slower.why, "'rate=20' is overloaded: its latency grows with the length of a trial");
}

TEST(load_findings, do_not_mistake_a_late_last_frame_for_overload) {
  auto record = made_experiment("e", {overloaded()}, 3);
  for_runs_of(record, 0, [](run_record& run) {
    for (std::size_t i = 0; i < run.frames.size(); ++i) {
      auto& frame = run.frames[i];
      const bool last = i + 1 == run.frames.size();
      frame.begin = frame.due;
      frame.end = frame.due + (last ? 300 : 20) * ms;
    }
  });
  EXPECT_THAT(findings(record), Each(Not(StartsWith("overloaded"))));
}

TEST(machine_findings, report_drift_and_disturbed_blocks) {
  auto record = two_strategies();
  auto summary = figures_of(record);
  summary.machine.drift = -0.02;
  summary.machine.affected_blocks = {1};
  EXPECT_THAT(findings(record, summary), Contains("machine_drifted change=-2.00 %"));
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("disturbed_blocks blocks=block 2 consequence=still counted")));
  record.how.repeat_affected = true;
  EXPECT_THAT(findings(record, summary), Contains(EndsWith(" consequence=left out")));
}

TEST(experiment_findings, are_none_without_data) {
  EXPECT_THAT(findings({}, {}), IsEmpty());
  auto record = two_strategies();
  record.trials.clear();
  EXPECT_THAT(findings(record), IsEmpty());
}

TEST(experiment_findings, do_not_count_runs_that_failed) {
  auto record = two_strategies();
  for_runs_of(record, 1, [](run_record& run) { run.failure = "broken"; });
  EXPECT_THAT(findings(record), Each(Not(HasSubstr("strategy=async"))));
}

TEST(trial_warnings, are_merged_over_configurations) {
  auto record = two_strategies();
  for_runs_of(record, 0, [](run_record& run) { run.warnings = {"beware", "of this"}; });
  for_runs_of(record, 1, [](run_record& run) { run.warnings = {"beware"}; });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("trial_warning(strategy=serial, strategy=async) text=beware "
                             "configurations=all configurations"));
  EXPECT_THAT(said, Contains("trial_warning(strategy=serial) text=of this "
                             "configurations=strategy=serial"));
}

// The machine.

TEST(machine_findings, count_disturbed_trials_and_name_the_reasons) {
  auto record =
      made_experiment("e", {made_of({{"wait", "spin"}}), made_of({{"wait", "block"}})}, 6);
  const auto disturbed = Contains(StartsWith("disturbed_trials"));
  conditions_record conditions;
  conditions.lasted = 10'000 * ms;
  conditions.cores = 2;
  conditions.others = 100 * ms;
  for_runs_of(record, 0, [&](run_record& run) { run.conditions = conditions; });
  EXPECT_THAT(findings(record), Not(disturbed));
  conditions.others = 6'000 * ms;
  record.trials[4].members[0].conditions = conditions;
  EXPECT_THAT(findings(record), Contains("disturbed_trials disturbed=1 trials=12 by=other "
                                         "processes kept 0.60 of 2 cores busy"));
  for_runs_of(record, 1, [&](run_record& run) { run.conditions = conditions; });
  EXPECT_THAT(findings(record), disturbed);
}

}  // namespace
}  // namespace graphline
