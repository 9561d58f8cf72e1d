#include "framework/analysis/run/contention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/run/summary.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_run.hpp"

namespace graphline {
namespace {

using samples::made_run;
using testing::HasSubstr;

const contention& waits_of(const std::vector<contention>& all, const std::string& name) {
  return *std::ranges::find(all, name, &contention::name);
}

/// A run in virtual time of CPU stages with these levels of priority.
made_run run_with(const std::vector<std::int64_t>& levels, std::int64_t workers) {
  constexpr const char* names[] = {"a", "b", "c", "d"};
  made_run made(strategy::overlap);
  made.record.run.workers = workers;
  for (std::size_t s = 0; s < levels.size(); ++s) {
    made.cpu_stage(names[s], s == 0 ? std::vector<wait_record>()
                                    : std::vector<wait_record>{{0, satisfied_by::cpu_return}});
    made.record.stages.back().level = levels[s];
  }
  return made;
}

TEST(contention, splits_a_wait_among_the_stages_that_held_the_workers) {
  made_run made = run_with({0, 1, 0, 0}, 2);
  made.frame(0, 100).cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.cpu(1, 50, 60).cause(1, 0).cpu(2, 10, 50).cause(2, 0).cpu(3, 10, 90).cause(3, 0);
  const auto found = contention_of(made.record);
  const auto& b = waits_of(found, "b");
  EXPECT_EQ(b.frames, 1U);
  EXPECT_EQ(b.wait.sum, 40);
  std::vector<double> held;
  for (const frame_time& by : b.held_by) held.push_back(by.sum);
  EXPECT_EQ(held, (std::vector<double>{0, 0, 20, 20}));
}

TEST(contention, sums_waits_of_frames) {
  made_run made = run_with({0, 1}, 1);
  made.frame(0, 100).cpu(0, 20, 30).cause(0, cause::frame_begun).cpu(1, 30, 40).cause(1, 0);
  made.frame(100, 200).cpu(0, 150, 160).cause(0, cause::frame_begun).cpu(1, 161, 170).cause(1, 0);
  const auto found = contention_of(made.record);
  const auto& a = waits_of(found, "a");
  EXPECT_EQ(a.mean(a.wait), 35);
  EXPECT_EQ(a.wait.longest, 50);
  EXPECT_EQ(waits_of(found, "b").wait.sum, 1);
}

TEST(contention, tells_blocking_from_inversions) {
  // Another worker runs c while b becomes ready.
  made_run made = run_with({0, 1, 0, 1}, 2);
  made.record.threads = {"worker 1", "worker 2"};
  made.frame(0, 90).cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.cpu(2, 10, 40, 1).cause(2, cause::frame_begun);
  made.cpu(3, 10, 40).cause(3, 0).cpu(1, 40, 50).cause(1, 0);
  auto found = contention_of(made.record);
  EXPECT_EQ(waits_of(found, "b").behind->blocked, 1U);
  EXPECT_EQ(waits_of(found, "b").behind->longest_blocked, 30);
  EXPECT_EQ(waits_of(found, "b").behind->inversions, 0U);
  EXPECT_EQ(waits_of(found, "b").behind->bound, 30);
  // The worker that made b ready takes c.
  made.record.stages[2].threads[0] = 0;
  made.record.stages[3].threads[0] = 1;
  found = contention_of(made.record);
  EXPECT_EQ(waits_of(found, "b").behind->blocked, 0U);
  EXPECT_EQ(waits_of(found, "b").behind->inversions, 1U);
  EXPECT_EQ(waits_of(found, "b").behind->longest_inversion, 30);
}

TEST(contention, allows_for_the_delay_between_a_stamp_and_the_queue) {
  for (const nanoseconds later : {40'000, 60'000}) {
    made_run made = run_with({0, 1, 0}, 1);
    made.record.threads = {"worker 1", "worker 2"};
    made.record.epoch = 1;
    made.frame(0, 900'000).cpu(0, 0, 10).cause(0, cause::frame_begun);
    made.cpu(2, 10 + later, 400'000, 1).cause(2, cause::frame_begun).cpu(1, 400'000, 500'000);
    made.cause(1, 0);
    const auto found = contention_of(made.record);
    EXPECT_EQ(waits_of(found, "b").behind->inversions, later > 50'000 ? 1U : 0U);
    EXPECT_EQ(waits_of(found, "b").behind->blocked, later > 50'000 ? 0U : 1U);
  }
}

/// A window of two: b and c are issued before the more urgent d is ready.
made_run windowed() {
  made_run made(strategy::overlap);
  made.record.run.window = 2;
  made.cpu_stage("a");
  for (const char* name : {"b", "c", "d"}) made.device_stage(name, {{0, satisfied_by::cpu_return}});
  made.record.stages[3].level = 2;
  made.frame(0, 300).cpu(0, 0, 20).cause(0, cause::frame_begun);
  made.launch(1, 1, 2).device(1, 3, 53).seen(1, 54).cause(1, cause::frame_begun);
  made.launch(2, 2, 3).device(2, 53, 113).seen(2, 114).cause(2, cause::frame_begun);
  made.launch(3, 54, 55).device(3, 113, 120).seen(3, 121).cause(3, 0);
  return made;
}

TEST(contention, counts_what_holds_the_window_but_as_blocking_only_what_runs) {
  const auto found = contention_of(windowed().record);
  const auto& d = waits_of(found, "d");
  EXPECT_EQ(d.on, side::device);
  EXPECT_EQ(d.wait.sum, 93);
  EXPECT_EQ(d.held_by[1].sum, 17) << "half of the time from 20 to 54";
  EXPECT_EQ(d.held_by[2].sum, 46.5) << "half of the time from 20 to 113";
  EXPECT_EQ(d.behind->blocked, 1U);
  EXPECT_EQ(d.behind->longest_blocked, 93) << "b from 20 to 53, then c";
  EXPECT_EQ(d.behind->bound, 120) << "two times the longest, c";
}

TEST(contention, counts_the_windows_of_each_device_separately) {
  made_run made = windowed();
  made.record.devices = {{"left", made.record.device}, {"right", made.record.device}};
  made.record.stages[2].device_index = 1;  // c, the longest
  const auto found = contention_of(made.record);
  const auto& d = waits_of(found, "d");
  EXPECT_EQ(d.held_by[1].sum, 17) << "half of the time from 20 to 54";
  EXPECT_EQ(d.held_by[2].sum, 0);
  EXPECT_EQ(d.behind->longest_blocked, 33) << "b from 20 to 53";
  EXPECT_EQ(d.behind->bound, 100) << "two times the longest on this device, b";
}

TEST(contention, does_not_count_lower_ranks_in_the_window_that_do_not_run) {
  // The device runs the most urgent b, for 500, before c.
  made_run made = windowed();
  auto& stages = made.record.stages;
  made.record.frames[0].end = 600;
  stages[1].level = 3;
  stages[1].device = {{3, 503}};
  stages[1].seen = {504};
  stages[2].device = {{503, 563}};
  stages[2].seen = {564};
  stages[3].enqueued = {{504, 505}};
  stages[3].device = {{563, 570}};
  auto found = contention_of(made.record);
  EXPECT_EQ(waits_of(found, "d").wait.sum, 543);
  EXPECT_EQ(waits_of(found, "d").held_by[2].sum, 271.5);
  EXPECT_EQ(waits_of(found, "d").behind->blocked, 1U);
  EXPECT_EQ(waits_of(found, "d").behind->longest_blocked, 60);
  EXPECT_EQ(waits_of(found, "d").behind->bound, 120);
  // The device runs c before d is ready, but the host sees that later.
  stages[1].device = {{20, 520}};
  stages[2].device = {{3, 20}};
  found = contention_of(made.record);
  EXPECT_EQ(waits_of(found, "d").held_by[2].sum, 271.5);
  EXPECT_EQ(waits_of(found, "d").behind->blocked, 0U);
}

TEST(contention, omits_waits_for_frames_that_were_cut_short) {
  made_run made = run_with({0, 1}, 1);
  made.frame(0, 100).cpu(0, 20, 30).cause(0, cause::frame_begun).cpu(1, 30, 40).cause(1, 0);
  made.frame(60, 200).cpu(0, 150, 160).cause(0, cause::dropped_frame).cpu(1, 161, 170).cause(1, 0);
  const auto found = contention_of(made.record);
  EXPECT_EQ(waits_of(found, "a").wait.sum, 20);
  EXPECT_EQ(waits_of(found, "b").wait.sum, 1);
}

TEST(contention, needs_workers_causes_and_a_policy_or_priorities) {
  made_run made = run_with({0, 0}, 1);
  made.frame(0, 100).cpu(0, 20, 30).cause(0, cause::frame_begun).cpu(1, 30, 40).cause(1, 0);
  EXPECT_TRUE(contention_of(made.record).empty());
  made.record.run.policy = "fifo";
  EXPECT_EQ(contention_of(made.record).size(), 1U);
  EXPECT_EQ(contention_of(made.record)[0].behind, std::nullopt);
  auto without = made.record;
  for (auto& stage : without.stages) stage.causes.clear();
  EXPECT_TRUE(contention_of(without).empty());
  made.record.run.strategy = strategy::async;
  EXPECT_TRUE(contention_of(made.record).empty());
}

TEST(contention, ranks_by_absolute_deadlines_under_a_policy_that_keeps_their_order) {
  made_run made = run_with({0, 0, 5}, 1);
  made.record.run.policy = "my.edf";
  made.record.policy.emplace().order = urgency::deadline;
  made.record.threads = {"worker 1"};
  made.record.run.deadline = 80;
  made.record.stages[1].deadline = 70;
  made.frame(0, 100).cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.cpu(2, 10, 30).cause(2, 0).cpu(1, 30, 40).cause(1, 0);
  const auto found = contention_of(made.record);
  EXPECT_EQ(waits_of(found, "b").behind->inversions, 1U);
  EXPECT_EQ(waits_of(found, "c").behind->inversions, 0U);
  const auto says = inversion_finding(found);
  ASSERT_TRUE(says);
  EXPECT_EQ(says->how, finding_severity::warning);
  EXPECT_EQ(says->subjects, std::vector<std::string>{"b"});
}

TEST(contention, warns_of_inversions_under_a_policy_that_keeps_an_order) {
  made_run made = run_with({0, 1, 0}, 1);
  made.record.run.policy = "my.order";
  made.record.threads = {"worker 1"};
  made.frame(0, 100).cpu(0, 0, 10).cause(0, cause::frame_begun);
  made.cpu(2, 10, 30).cause(2, 0).cpu(1, 30, 40).cause(1, 0);
  for (const urgency order : {urgency::none, urgency::priority}) {
    made.record.policy.emplace().order = order;
    const auto says = inversion_finding(contention_of(made.record));
    ASSERT_TRUE(says);
    EXPECT_EQ(says->how == finding_severity::warning, order == urgency::priority);
    EXPECT_EQ(says->subjects, std::vector<std::string>{"b"});
  }
}

TEST(contention, accepts_arbitrary_stamps) {
  made_run made = run_with({1, 0, 2}, 1);
  made.frame(50, 10).cpu(0, 90, 20).cause(0, cause::previous_frame);
  made.cpu(1, 5, INT64_MAX).cause(1, 0).cpu(2, INT64_MIN, 4).cause(2, 0);
  contention_of(made.record);
}

TEST(stage_deadlines, count_from_the_due_time_to_the_end_of_the_stage) {
  made_run made(strategy::overlap);
  made.cpu_stage("a");
  made.device_stage("b", {{0, satisfied_by::cpu_return}});
  made.record.stages[0].deadline = 25;
  made.record.stages[1].deadline = 100;
  made.frame(10, 90, 5).cpu(0, 20, 30).launch(1, 30, 31).device(1, 32, 90);
  made.frame(100, 250, 95).cpu(0, 111, 121).launch(1, 121, 122).device(1, 125, 240);
  made.frame(300, 350, 300).cpu(0, 301, 311).launch(1, 311, 312).device(1, 313, 350);
  const auto found = summarize(made.record).stage_deadlines;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].late, 1U);
  EXPECT_EQ(found[0].lateness->count(), 3U);
  EXPECT_EQ(found[0].lateness->max(), 1);
  EXPECT_EQ(found[0].lateness->min(), -14);
  EXPECT_EQ(found[1].late, 1U);
  EXPECT_EQ(found[1].lateness->max(), 45);
  for (auto& stage : made.record.stages) stage.cpu.clear();
  EXPECT_EQ(summarize(made.record).stage_deadlines[0].lateness, std::nullopt);
}

}  // namespace
}  // namespace graphline
