#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::add_comparison;
using samples::add_together;
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

// Priorities and several pipelines at once.

experiment_record with_and_without_priorities() {
  auto record = made_experiment(
      "e", {made_of({{"priorities", "on"}}), made_of({{"priorities", "off"}}, taking(80 * ms))}, 6);
  for_runs_of(record, 0, [](run_record& run) { run.device.priority_levels = 3; });
  for_runs_of(record, 1, [](run_record& run) { run.run.priorities = false; });
  return record;
}

TEST(priority_findings, say_that_priorities_took_effect_seen_from_those_that_have_them) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 1.0700, 1.0900, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("priorities_took_effect(priorities=on) verdict=faster "
                                  "percentile=p50 with=74.0 ms without=80.0 ms change=-7.50 % "
                                  "low=-8.26 % high=-6.54 %")));
}

TEST(priority_findings, say_that_priorities_changed_nothing) {
  auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.996, 1.004, verdict::same, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(AllOf(StartsWith("priorities_changed_nothing(priorities=on)"),
                             Not(HasSubstr("levels")))));
  summary.comparisons.front().verdict = verdict::inconclusive;
  for_runs_of(record, 1, [](run_record& run) { run.device.priority_levels = 1; });
  EXPECT_THAT(findings(record, summary),
              Contains(AllOf(StartsWith("priorities_inconclusive"), HasSubstr("levels=1"))));
}

TEST(priority_findings, look_at_the_tail_where_the_median_shows_nothing) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.996, 1.004, verdict::same, {}});
  add_comparison(summary, record, {0, figure::tail, 1.07, 1.09, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary), Contains(AllOf(StartsWith("priorities_took_effect"),
                                                        HasSubstr("percentile=p95 with=74."))));
}

TEST(priority_findings, wait_for_blocks_enough_to_tell) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0, 0, verdict::inconclusive, 2});
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("priorities"))));
}

TEST(priority_findings, are_not_made_of_pairs_that_differ_in_more) {
  auto record = with_and_without_priorities();
  record.configurations[1].assignments.emplace_back("wait", "spin");
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 1.07, 1.09, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("priorities"))));
}

TEST(together_findings, compare_each_pipeline_with_itself_alone) {
  experiment_record record;
  const made_configuration camera{"", {}, taking(12 * ms)};
  const made_configuration beside{"", {}, taking(18 * ms)};
  const made_configuration batch;
  add_together(record, "camera alone", {{"camera", camera}});
  add_together(record, "together", {{"camera", beside}, {"batch", batch}, {"log", batch}});
  record.pairs = {{{1, 0}, {0, 0}}};
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 1.49, 1.51, verdict::slower, {}});
  EXPECT_THAT(findings(record, summary),
              Contains("slower_together(camera, batch, log) alone=12.0 ms together=18.0 ms "
                       "change=+50.0 % low=+49.0 % high=+51.0 %"));
}

// Launches and waiting.

made_configuration launched_slowly(std::string graphs, nanoseconds launch) {
  auto result = made_of({{"graphs", std::move(graphs)}}, taking(10 * ms));
  result.times.launch = launch;
  return result;
}

TEST(launch_findings, name_each_stage_once_with_all_its_configurations) {
  const auto record =
      made_experiment("e",
                      {launched_slowly("off", 700'000), launched_slowly("stage", 780'000),
                       launched_slowly("frame", 21'000)},
                      3);
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("device_time_may_hold_waits(head) enqueue=390 us device=400 us "
                             "configurations=graphs=off and graphs=stage worst_in=graphs=stage"));
  EXPECT_THAT(said, Each(Not(HasSubstr("backbone"))));
}

TEST(launch_findings, name_the_worst_of_several_stages) {
  auto slow = launched_slowly("off", 700'000);
  slow.times.backbone = 720'000;
  const auto said = findings(made_experiment("e", {slow}, 3));
  EXPECT_THAT(said, Contains(StartsWith("device_time_may_hold_waits(backbone) enqueue=700 us "
                                        "device=720 us stages=2 ")));
  EXPECT_THAT(said, Each(Not(HasSubstr("(head)"))));
}

TEST(launch_findings, leave_out_stages_that_are_next_to_nothing_of_a_frame) {
  auto slow = launched_slowly("off", 700'000);
  slow.times.end_to_end = 30 * ms;
  EXPECT_THAT(findings(made_experiment("e", {slow}, 3)), Each(Not(HasSubstr("(head)"))));
}

experiment_record two_ways_to_wait() {
  auto record =
      made_experiment("e", {made_of({{"wait", "block"}}), made_of({{"wait", "spin"}})}, 6);
  for_runs_of(record, 1, [](run_record& run) { run.run.wait = wait_mode::spin; });
  return record;
}

TEST(waiting_findings, tell_of_a_core_kept_busy_for_nothing) {
  const auto record = two_ways_to_wait();
  auto summary = figures_of(record);
  summary.configurations[1].members[0].cores = 2.22;
  add_comparison(summary, record, {0, figure::p50, 0.999, 1.001, verdict::same, {}});
  EXPECT_THAT(findings(record, summary),
              Contains("busy_wait busy=wait=spin idle=wait=block cores=0.97 busy_p50=74.0 ms "
                       "idle_p50=74.0 ms verdict=same"));
  summary.comparisons.front().verdict = verdict::inconclusive;
  EXPECT_THAT(findings(record, summary),
              Contains(AllOf(StartsWith("busy_wait"), HasSubstr("verdict=inconclusive"))));
}

TEST(waiting_findings, are_silent_where_the_core_buys_something) {
  const auto record = two_ways_to_wait();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.999, 1.001, verdict::same, {}});
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("busy_wait"))));
  summary.configurations[1].members[0].cores = 2.22;
  add_comparison(summary, record, {0, figure::tail, 0.8, 0.9, verdict::faster, {}});
  EXPECT_THAT(findings(record, summary), Each(Not(StartsWith("busy_wait"))));
}

TEST(waiting_findings, see_the_spinning_side_also_as_the_baseline) {
  auto record = two_ways_to_wait();
  record.pairs = {{{0, 0}, {1, 0}}};
  auto summary = figures_of(record);
  summary.configurations[1].members[0].cores = 2.22;
  add_comparison(summary, record, {0, figure::p50, 0.999, 1.001, verdict::same, {}});
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("busy_wait busy=wait=spin idle=wait=block cores=0.97")));
}

// Load and machine.

/// Frames due every 50 ms, done every 74 ms.
made_configuration overloaded() {
  auto result = made_of({{"rate", "20"}});
  result.change = [](run_record& run) {
    run.run.arrival = arrival::constant;
    run.run.rate = 20;
    run.run.deadline = 200 * ms;
    for (std::size_t i = 0; i < run.frames.size(); ++i) {
      run.frames[i].due = static_cast<nanoseconds>(i) * 50 * ms;
    }
    run.load.found_full = 3;
  };
  return result;
}

TEST(load_findings, say_that_a_rate_is_beyond_what_can_be_carried) {
  const auto said = findings(made_experiment("e", {overloaded()}, 3));
  EXPECT_THAT(said.front(),
              AllOf(StartsWith("overloaded_in [rates_of('rate=20') offered=20.00 frame/s "
                               "completed=13."),
                    EndsWith(" rates=13.5 of 20 offered frame/s configurations='rate=20']")));
  EXPECT_THAT(said, Contains("queue_full [frames_of('rate=20') frames=9 due=60 "
                             "configurations='rate=20']"));
  EXPECT_THAT(said, Contains(AllOf(StartsWith("late_frames [frames_of('rate=20') frames="),
                                   HasSubstr("median_late="))));
}

TEST(load_findings, do_not_take_a_last_frame_that_was_late_for_a_rate_that_is_too_high) {
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

TEST(load_findings, count_dropped_frames) {
  auto record = made_experiment("e", {overloaded()}, 3);
  for_runs_of(record, 0, [](run_record& run) {
    run.load.dropped = {60 * ms, 110 * ms};
    run.load.found_full = 2;
  });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("frames_dropped [frames_of('rate=20') frames=6 due=66 "
                             "configurations='rate=20']"));
  EXPECT_THAT(said, Each(Not(StartsWith("queue_full"))));
}

TEST(load_findings, are_none_for_frames_that_come_as_they_can) {
  const auto said = findings(two_strategies());
  EXPECT_THAT(said, Each(Not(HasSubstr("frames_of"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("overloaded"))));
}

TEST(machine_findings, tell_of_drift_and_of_blocks_that_were_affected) {
  auto record = two_strategies();
  auto summary = figures_of(record);
  summary.machine.drift = -0.02;
  summary.machine.affected_blocks = {1};
  EXPECT_THAT(findings(record, summary),
              Contains("machine_drifted judge=the baseline change=-2.00 %"));
  EXPECT_THAT(
      findings(record, summary),
      Contains(StartsWith("disturbed_blocks blocks=2 judge=the baseline consequence=counted")));
  record.how.repeat_affected = true;
  EXPECT_THAT(findings(record, summary), Contains(EndsWith(" consequence=left out")));
}

TEST(machine_findings, name_what_the_machine_is_judged_by) {
  auto record = made_experiment("e", {made_of({{"a", "1"}}), made_of({{"a", "2"}})}, 3);
  auto summary = figures_of(record);
  summary.machine.drift = 0.02;
  record.pairs = {{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}};
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("machine_drifted judge=the median baseline")));
  record.pairs.clear();
  EXPECT_THAT(findings(record, summary),
              Contains(StartsWith("machine_drifted judge=the pipeline")));
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

TEST(trial_warnings, are_each_said_once_with_all_configurations) {
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

TEST(machine_findings, count_trials_that_were_disturbed_and_say_by_what) {
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
