#include "framework/analysis/experiment/experiment_findings.hpp"

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
  EXPECT_THAT(findings_of(record, summary),
              Contains("priorities took effect, priorities=on is faster: p50 74.0 ms with them, "
                       "80.0 ms without (-7.5 %, 95 % interval -8.3 to -6.5)"));
}

TEST(priority_findings, say_that_priorities_changed_nothing) {
  auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.996, 1.004, verdict::same, {}});
  EXPECT_THAT(findings_of(record, summary),
              Contains(StartsWith("priorities changed nothing for priorities=on")));
  summary.comparisons.front().verdict = verdict::undecided;
  for_runs_of(record, 1, [](run_record& run) { run.device.priority_levels = 1; });
  EXPECT_THAT(
      findings_of(record, summary),
      Contains(AllOf(StartsWith("no effect of priorities is visible"), HasSubstr("undecided"))));
}

TEST(priority_findings, look_at_the_tail_where_the_median_shows_nothing) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.996, 1.004, verdict::same, {}});
  add_comparison(summary, record, {0, figure::tail, 1.07, 1.09, verdict::slower, {}});
  EXPECT_THAT(findings_of(record, summary),
              Contains(AllOf(StartsWith("priorities took effect"), HasSubstr("p95 74."))));
}

TEST(priority_findings, wait_for_blocks_enough_to_tell) {
  const auto record = with_and_without_priorities();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0, 0, verdict::undecided, 2});
  EXPECT_THAT(findings_of(record, summary), Each(Not(HasSubstr("priorities is visible"))));
}

TEST(priority_findings, are_not_made_of_pairs_that_differ_in_more) {
  auto record = with_and_without_priorities();
  record.configurations[1].assignments.emplace_back("wait", "spin");
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 1.07, 1.09, verdict::slower, {}});
  EXPECT_THAT(findings_of(record, summary), Each(Not(HasSubstr("priorities took"))));
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
  EXPECT_THAT(findings_of(record, summary),
              Contains("camera: p50 12.0 ms alone, 18.0 ms beside batch and log (+50.0 %, 95 % "
                       "interval +49.0 to +51.0)"));
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
  EXPECT_THAT(said, Contains(StartsWith("stage 'head' with graphs=off and graphs=stage, at most: "
                                        "enqueueing takes 390 us, its device time is 400 us")));
  EXPECT_THAT(said, Each(Not(HasSubstr("'backbone'"))));
}

TEST(launch_findings, name_the_worst_of_several_stages) {
  auto slow = launched_slowly("off", 700'000);
  slow.times.backbone = 720'000;
  const auto said = findings(made_experiment("e", {slow}, 3));
  EXPECT_THAT(said, Contains(HasSubstr("enqueueing takes 700 us, its device time is 720 us, the "
                                       "worst of 2 stages; ")));
  EXPECT_THAT(said, Each(Not(StartsWith("stage 'head'"))));
}

TEST(launch_findings, leave_out_stages_that_are_next_to_nothing_of_a_frame) {
  auto slow = launched_slowly("off", 700'000);
  slow.times.end_to_end = 30 * ms;
  EXPECT_THAT(findings(made_experiment("e", {slow}, 3)), Each(Not(HasSubstr("'head'"))));
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
  EXPECT_THAT(findings_of(record, summary),
              Contains("wait=spin keeps 0.97 cores more busy than wait=block without being faster: "
                       "p50 74.0 ms against 74.0 ms (same)"));
  summary.comparisons.front().verdict = verdict::undecided;
  EXPECT_THAT(findings_of(record, summary),
              Contains(HasSubstr("without being shown to be faster")));
}

TEST(waiting_findings, are_silent_where_the_core_buys_something) {
  const auto record = two_ways_to_wait();
  auto summary = figures_of(record);
  add_comparison(summary, record, {0, figure::p50, 0.999, 1.001, verdict::same, {}});
  EXPECT_THAT(findings_of(record, summary), Each(Not(HasSubstr("cores"))));
  summary.configurations[1].members[0].cores = 2.22;
  add_comparison(summary, record, {0, figure::tail, 0.8, 0.9, verdict::faster, {}});
  EXPECT_THAT(findings_of(record, summary), Each(Not(HasSubstr("cores"))));
}

TEST(waiting_findings, see_the_spinning_side_also_as_the_baseline) {
  auto record = two_ways_to_wait();
  record.pairs = {{{0, 0}, {1, 0}}};
  auto summary = figures_of(record);
  summary.configurations[1].members[0].cores = 2.22;
  add_comparison(summary, record, {0, figure::p50, 0.999, 1.001, verdict::same, {}});
  EXPECT_THAT(findings_of(record, summary),
              Contains(StartsWith("wait=spin keeps 0.97 cores more busy than wait=block")));
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
  EXPECT_EQ(said.front(), "overloaded: completed 13.5 of 20 offered frame/s with 'rate=20'");
  EXPECT_THAT(said, Contains("frames that found the queue full: 9 of 60 with 'rate=20'"));
  EXPECT_THAT(said, Contains(StartsWith("frames that missed their deadline, and by how much")));
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
  EXPECT_THAT(findings(record), Each(Not(HasSubstr("overloaded"))));
}

TEST(load_findings, count_dropped_frames) {
  auto record = made_experiment("e", {overloaded()}, 3);
  for_runs_of(record, 0, [](run_record& run) {
    run.load.dropped = {60 * ms, 110 * ms};
    run.load.found_full = 2;
  });
  const auto said = findings(record);
  EXPECT_THAT(said, Contains("frames dropped by a full queue, so that no percentile counts them: 6 "
                             "of 66 with 'rate=20'"));
  EXPECT_THAT(said, Each(Not(HasSubstr("found the queue full"))));
}

TEST(load_findings, are_none_for_frames_that_come_as_they_can) {
  const auto said = findings(two_strategies());
  EXPECT_THAT(said, Each(Not(HasSubstr("frames that"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("more frames"))));
}

TEST(machine_findings, tell_of_drift_and_of_blocks_that_were_affected) {
  auto record = two_strategies();
  auto summary = figures_of(record);
  summary.machine.drift = -0.02;
  summary.machine.affected_blocks = {1};
  EXPECT_THAT(findings_of(record, summary),
              Contains(HasSubstr("the p50 of the baseline changed by -2.0 %")));
  EXPECT_THAT(findings_of(record, summary),
              Contains(AllOf(HasSubstr("in block 2,"), HasSubstr("counted all the same"))));
  record.how.repeat_affected = true;
  EXPECT_THAT(findings_of(record, summary), Contains(EndsWith("; left out")));
}

TEST(machine_findings, name_what_the_machine_is_judged_by) {
  auto record = made_experiment("e", {made_of({{"a", "1"}}), made_of({{"a", "2"}})}, 3);
  auto summary = figures_of(record);
  summary.machine.drift = 0.02;
  record.pairs = {{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}};
  EXPECT_THAT(findings_of(record, summary), Contains(HasSubstr("p50 of the median baseline")));
  record.pairs.clear();
  EXPECT_THAT(findings_of(record, summary), Contains(HasSubstr("p50 of the pipeline")));
}

TEST(experiment_findings, are_none_without_data) {
  EXPECT_THAT(findings_of({}, {}), IsEmpty());
  auto record = two_strategies();
  record.trials.clear();
  EXPECT_THAT(findings(record), IsEmpty());
}

TEST(experiment_findings, do_not_count_runs_that_failed) {
  auto record = two_strategies();
  for_runs_of(record, 1, [](run_record& run) { run.failure = "broken"; });
  EXPECT_THAT(findings(record), Each(Not(HasSubstr("strategy=async"))));
}

// The machine.

TEST(machine_findings, count_trials_that_were_disturbed_and_say_by_what) {
  auto record =
      made_experiment("e", {made_of({{"wait", "spin"}}), made_of({{"wait", "block"}})}, 6);
  const auto disturbed = Contains(HasSubstr("disturbed (machine noise)"));
  conditions_record conditions;
  conditions.lasted = 10'000 * ms;
  conditions.cores = 2;
  conditions.others = 100 * ms;
  for_runs_of(record, 0, [&](run_record& run) { run.conditions = conditions; });
  EXPECT_THAT(findings(record), Not(disturbed));
  conditions.others = 6'000 * ms;
  record.trials[4].members[0].conditions = conditions;
  EXPECT_THAT(findings(record), Contains("1 of 12 trials was disturbed (machine noise): other "
                                         "processes kept 0.60 of 2 cores busy"));
  for_runs_of(record, 1, [&](run_record& run) { run.conditions = conditions; });
  EXPECT_THAT(findings(record), disturbed);
}

}  // namespace
}  // namespace graphline
