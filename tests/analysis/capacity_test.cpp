#include "framework/analysis/experiment/capacity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/simulated_queue.hpp"

namespace graphline {
namespace {

using samples::figure_of;
using samples::keys;
using samples::simulated_queue;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr simulated_queue one_millisecond{arrival::constant, 1e6, false};

capacity_settings within_5_ms() {
  capacity_settings how;
  how.bound = 5'000'000;
  how.frames = 240;
  return how;
}

capacity_run run_at(double rate, std::size_t probe = 0, std::int64_t frames = 240) {
  capacity_run run;
  run.probe = probe;
  run.rate = rate;
  run.members = {one_millisecond.run(rate, frames, 1)};
  return run;
}

capacity_run pooled_at(double rate, std::size_t probe = 0) {
  auto run = run_at(rate, probe, 960);
  run.pooled = true;
  return run;
}

capacity_run_summary summary_of(const capacity_run& run) {
  return summarize(run, within_5_ms());
}

capacity_record record_of(const std::vector<capacity_run>& runs) {
  capacity_record record;
  record.how = within_5_ms();
  record.closed_loop = one_millisecond.run({}, 240, 1);
  record.runs = runs;
  return record;
}

/// Three runs at each rate.
capacity_record three_at_each(const std::vector<double>& rates) {
  std::vector<capacity_run> runs;
  for (std::size_t i = 0; i < 3 * rates.size(); ++i) {
    runs.push_back(pooled_at(rates[i % rates.size()], i % rates.size()));
  }
  return record_of(runs);
}

TEST(capacity, run_below_the_throughput_holds) {
  const auto run = summary_of(run_at(900));
  EXPECT_TRUE(run.held);
  EXPECT_EQ(run.members[0].times.size(), 216U);  // without the first tenth
  EXPECT_EQ(run.members[0].late, 0);
  EXPECT_FALSE(run.members[0].growing);
  EXPECT_NEAR(run.own_times.at(1).mean(), 1e6, 1);
}

TEST(capacity, run_above_the_throughput_fails) {
  const auto run = summary_of(run_at(1200));
  EXPECT_FALSE(run.held);
  EXPECT_TRUE(run.members[0].growing);
  EXPECT_NEAR(run.own_times.at(1).mean(), 1e6, 1);  // without the queue
}

TEST(capacity, is_below_a_rate_at_which_half_of_the_runs_fail) {
  auto failed = pooled_at(900, 1);
  for (int i = 0; i < 200; ++i)
    failed.members.front().load.dropped.push_back(1'000'000 * (500 + i));
  ASSERT_FALSE(summary_of(failed).held);
  const auto estimate =
      summarize(record_of({pooled_at(800), pooled_at(900, 1), failed, pooled_at(1100, 2)}))
          .estimate;
  EXPECT_LE(*estimate.low, 800);
  EXPECT_EQ(*estimate.high, 900);
}

TEST(capacity, run_whose_queue_grows_fails_before_a_frame_is_late) {
  // The rate is 1 % too high: the last of 240 frames waits 2.4 ms, well within the bound.
  const auto run = summary_of(run_at(1010));
  EXPECT_EQ(run.members[0].late, 0);
  EXPECT_TRUE(run.members[0].growing);
  EXPECT_FALSE(run.held);
}

TEST(capacity, run_whose_batches_come_too_fast_fails_before_a_frame_is_late) {
  // Two frames take 1 ms. At a rate 0.4 % too high, the queue grows by less than two frames in each
  // quarter of the run, which is less than the difference between the frames of a batch.
  simulated_queue queue = one_millisecond;
  queue.batch_frames = 8;
  queue.more = 1e6 / 7;
  capacity_run run;
  run.rate = 1.004 * 4000;
  run.members = {queue.run(run.rate, 960, 1)};
  const auto summary = summary_of(run);
  EXPECT_EQ(summary.members[0].late, 0);
  EXPECT_TRUE(summary.members[0].growing);
  run.rate = 0.996 * 4000;
  run.members = {queue.run(run.rate, 960, 1)};
  EXPECT_TRUE(summary_of(run).held);
}

TEST(capacity, counts_dropped_and_overdue_frames_as_late) {
  auto run = run_at(900);
  for (nanoseconds at = 100'000'000; at < 108'000'000; at += 1'000'000) {
    run.members.front().load.dropped.push_back(at);
  }
  run.overdue = 30;
  const auto summary = summary_of(run);
  EXPECT_EQ(summary.members[0].times.size(), 216U + 8 + 30);
  EXPECT_DOUBLE_EQ(summary.members[0].late, 38.0 / (216 + 8 + 30));
  EXPECT_FALSE(summary.held);
  const auto probe = summarize(record_of({run})).probes.front();
  EXPECT_EQ(probe.dropped, 8U);
  EXPECT_EQ(probe.times.late, 38U);
}

TEST(capacity, lies_between_the_rates_that_hold_and_those_that_do_not) {
  const auto found = summarize(three_at_each({900, 995, 1005, 1100})).estimate;
  ASSERT_TRUE(found.low && found.high && found.rate);
  EXPECT_GT(*found.low, 988);  // reduced by the 5 of 960 frames that can wait without being late
  EXPECT_LE(*found.low, 995);
  EXPECT_EQ(*found.high, 1005);
  EXPECT_EQ(*found.rate, 995);  // the highest rate that held
  EXPECT_TRUE(found.enough);
  EXPECT_EQ(found.runs, 12U);
  EXPECT_EQ(found.frames, 12U * 864);
}

TEST(capacity, excludes_search_runs) {
  auto record = three_at_each({900, 1100});
  record.runs.push_back(run_at(1000, 2));
  EXPECT_EQ(summarize(record).estimate.runs, 6U);
}

TEST(capacity, is_not_moved_by_one_run_that_contradicts_the_others) {
  auto record = three_at_each({900, 995, 1005, 1100});
  record.runs.push_back(pooled_at(1200, 0));
  record.runs.back().rate = 900;
  const auto summary = summarize(record);
  EXPECT_GT(*summary.estimate.low, 988);
  EXPECT_EQ(*summary.estimate.rate, 995);
  EXPECT_EQ(*summary.estimate.high, 1005);
  const auto said = findings_of(summary, record.how);
  const auto failed = std::ranges::find(said, "runs_failed_below", &finding::key);
  ASSERT_NE(failed, said.end());
  EXPECT_EQ(figure_of(*failed, "failed"), 1);
  EXPECT_EQ(figure_of(*failed, "runs"), 4);
  EXPECT_EQ(figure_of(*failed, "lowest"), 900);
  record.prediction.emplace();  // no machine can be to blame
  EXPECT_THAT(keys(findings_of(summarize(record), record.how)),
              AllOf(Contains("predicted_runs_failed_below"), Not(Contains("runs_failed_below"))));
}

TEST(capacity, excludes_runs_with_longer_own_times) {
  auto record = three_at_each({900, 1100});
  auto& frames = record.runs[2].members.front().frames;
  for (std::size_t i = 500; i < frames.size(); ++i) {
    if (i > 500) frames[i].begin += 200'000'000;
    frames[i].end += 200'000'000;  // the machine stood still during the 500th
  }
  const auto found = summarize(record).estimate;
  EXPECT_THAT(found.disturbed, ElementsAre(false, false, true, false, false, false));
  EXPECT_FALSE(found.unsteady);
  EXPECT_EQ(found.runs, 5U);
  const auto says = findings_of(summarize(record), record.how);
  ASSERT_THAT(keys(says), Contains("runs_disturbed"));
  EXPECT_EQ(figure_of(*std::ranges::find(says, "runs_disturbed", &finding::key), "runs"), 1);
}

TEST(capacity, does_not_take_larger_batches_for_a_disturbance) {
  simulated_queue queue = one_millisecond;
  queue.batch_frames = 8;
  queue.more = 1e5;
  auto record = three_at_each({900, 1500});
  for (auto& run : record.runs) run.members = {queue.run(run.rate, 960, 1)};
  record.runs.pop_back();
  const auto own = summarize(record.runs[1], record.how).own_times;
  EXPECT_NEAR(own.at(2).mean(), 1.1e6, 1);
  EXPECT_EQ(summarize(record).estimate.runs, 5U);

  auto& slow = record.runs[2].members.front();
  for (auto& frame : slow.frames) frame.end += 100'000;
  EXPECT_THAT(summarize(record).estimate.disturbed, ElementsAre(false, false, true, false, false));
}

TEST(capacity, excludes_runs_that_were_stopped_or_stood_still) {
  auto record = three_at_each({900, 1100});
  record.runs.push_back(run_at(500, 2));
  record.runs.push_back(run_at(1200, 3));
  record.runs.push_back(pooled_at(1100, 1));
  record.runs[6].members.front().conditions = conditions_record{};
  record.runs[6].members.front().conditions->standstills.push_back({0, 300'000'000, false});
  for (const auto run : {7U, 8U}) {
    record.runs[run].members.front().interrupted = true;
    record.runs[run].members.front().frames.resize(20);
  }
  const auto found = summarize(record);
  ASSERT_EQ(found.probes.size(), 4U);
  std::size_t runs = 0;
  std::size_t frames = 0;
  for (const auto& probe : found.probes) {
    if (!probe.pooled) {
      EXPECT_TRUE(probe.runs.empty());
      EXPECT_EQ(probe.times.frames, 0U);
      EXPECT_EQ(probe.held, 0U);
      EXPECT_EQ(probe.disturbed + probe.incomplete, 1U);
      continue;
    }
    runs += probe.runs.size();
    frames += probe.times.frames;
  }
  EXPECT_EQ(found.estimate.runs, runs);
  EXPECT_EQ(found.estimate.frames, frames);
  EXPECT_EQ(runs, 6U);

  record.runs = {record.runs[7]};
  EXPECT_THAT(keys(findings_of(summarize(record), record.how)), ElementsAre("no_rate_judged"));
}

TEST(capacity, excludes_no_run_if_many_look_disturbed) {
  auto record = three_at_each({900, 1100});
  for (const std::size_t run : {0U, 1U, 2U}) {
    for (auto& frame : record.runs[run].members.front().frames) frame.due -= 300'000'000;
  }
  const auto found = summarize(record).estimate;
  EXPECT_EQ(std::count(found.disturbed.begin(), found.disturbed.end(), true), 0);
  EXPECT_EQ(found.runs, 6U);
}

TEST(capacity, is_found_from_random_arrivals_on_both_sides_of_the_truth) {
  // M/D/1 runs only at 10 % below and above the true capacity.
  const simulated_queue queue{.arrival = arrival::poisson};
  const double truth = samples::md1_capacity(1e6, 0.95, 5e6);
  capacity_record record = record_of({});
  record.how.arrival = arrival::poisson;
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto run = pooled_at(truth * (i % 2 == 0 ? 0.9 : 1.1), i % 2);
    run.members = {queue.run(run.rate, 480, i + 1)};
    record.runs.push_back(run);
  }
  const auto found = summarize(record).estimate;
  ASSERT_TRUE(found.low && found.high);
  EXPECT_LE(*found.low, truth);
  EXPECT_GE(*found.high, truth);
  EXPECT_LE(*found.width(), 0.02);
}

TEST(capacity, has_both_interval_ends_only_with_rates_on_both_sides) {
  const auto held = summarize(three_at_each({800, 900})).estimate;
  EXPECT_EQ(held.low, 900);
  EXPECT_FALSE(held.high);
  EXPECT_FALSE(held.rate);
  EXPECT_GT(held.next, 900);
  const auto failed = summarize(three_at_each({1100, 1200})).estimate;
  EXPECT_EQ(failed.high, 1100);
  EXPECT_FALSE(failed.low);
  EXPECT_LT(failed.next, 1100);
}

TEST(capacity, reports_frames_that_are_late_without_queueing) {
  auto record = record_of({});
  record.how.bound = 900'000;
  const auto summary = summarize(record);
  EXPECT_EQ(summary.alone.frames, 240U);
  EXPECT_EQ(summary.alone.verdict, bound_verdict::fails);
  const auto says = findings_of(summary, record.how);
  ASSERT_THAT(keys(says), ElementsAre("no_rate_possible"));
  EXPECT_EQ(figure_of(says[0], "bound"), 900'000);
  EXPECT_EQ(figure_of(says[0], "alone"), 1'000'000);
  EXPECT_EQ(figure_of(says[0], "late"), 240);
  EXPECT_EQ(figure_of(says[0], "frames"), 240);
}

TEST(capacity, judges_frames_alone_without_their_wait_for_others) {
  simulated_queue queue = one_millisecond;
  queue.batch_frames = 8;
  queue.batch_wait = 3e6;
  queue.more = 1e6;
  capacity_record record = record_of({run_at(100)});
  record.how.bound = 3'500'000;
  record.closed_loop = queue.run({}, 240, 1);
  record.runs[0].members = {queue.run(100, 240, 1)};
  auto summary = summarize(record);
  EXPECT_EQ(summary.alone.frames, 240U);  // of the run; the closed loop has full batches
  EXPECT_EQ(summary.alone.verdict, bound_verdict::holds);
  EXPECT_EQ(summary.waiting.value, 4'000'000);
  EXPECT_EQ(summary.waiting.verdict, bound_verdict::fails);
  const auto says = findings_of(summary, record.how);
  ASSERT_THAT(keys(says), ElementsAre("no_rate_held"));
  EXPECT_EQ(figure_of(says[0], "wait"), 3'000'000);

  record.how.bound = 10'900'000;
  EXPECT_EQ(summarize(record).batch_wait, 3'000'000);
  record.how.bound = 11'100'000;  // a full batch takes 8 ms
  EXPECT_FALSE(summarize(record).batch_wait);
}

TEST(capacity, needs_runs_of_many_batches) {
  capacity_settings how = within_5_ms();
  EXPECT_EQ(frames_for_queue(how, 1000), 0);
  EXPECT_EQ(frames_for_queue(how, 1000, 64), 2560);
  how.arrival = arrival::poisson;
  EXPECT_EQ(frames_for_queue(how, 20'000), 40'000);
  EXPECT_EQ(frames_for_queue(how, 20'000, 51), 10'000);
  EXPECT_EQ(frames_for_queue(how, 1000, 8), 320);
}

TEST(capacity, is_found_as_a_rate_with_its_interval) {
  auto record = three_at_each({995, 1005});
  auto found = findings_of(summarize(record), record.how);
  ASSERT_THAT(keys(found), ElementsAre("capacity", "share_of_closed_loop"));
  EXPECT_EQ(figure_of(found[0], "bound"), 5'000'000);
  EXPECT_NEAR(figure_of(found[0], "rate"), 997, 8);
  EXPECT_EQ(figure_of(found[0], "high"), 1005);
  EXPECT_EQ(figure_of(found[0], "runs"), 6);
  EXPECT_EQ(figure_of(found[0], "frames"), 5184);
  EXPECT_NEAR(figure_of(found[1], "closed_loop"), 1000, 0.5);
  record.how.within = 0.005;
  found = findings_of(summarize(record), record.how);
  ASSERT_THAT(keys(found), ElementsAre("capacity", "interval_too_wide", "share_of_closed_loop"));
  EXPECT_EQ(figure_of(found[1], "within"), 0.005);
  EXPECT_GT(figure_of(found[1], "width"), 0.005);
}

TEST(capacity, without_an_estimate_names_the_highest_rate_that_held) {
  auto record = record_of({run_at(500, 0), run_at(900, 1), run_at(1200, 2)});
  auto found = findings_of(summarize(record), record.how);
  ASSERT_THAT(keys(found), ElementsAre("search_ended_early"));
  EXPECT_EQ(figure_of(found[0], "held"), 900);
  record.runs = {run_at(1100), run_at(1200, 1)};
  found = findings_of(summarize(record), record.how);
  ASSERT_THAT(keys(found), ElementsAre("no_rate_held"));
  EXPECT_EQ(figure_of(found[0], "lowest"), 1100);
}

TEST(capacity, warns_of_a_disturbed_search) {
  auto record = three_at_each({995, 1005});
  EXPECT_FALSE(summarize(record).warning);
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  record.conditions->others = 17'000'000'000;
  const auto warning = summarize(record).warning;
  ASSERT_TRUE(warning);
  EXPECT_EQ(*warning->find("by"),
            finding::figure(std::vector<std::string>{"other processes kept 1.70 of 2 cores busy"}));
}

TEST(capacity, is_reported_as_unknown_without_runs) {
  const auto summary = summarize(capacity_record{});
  EXPECT_FALSE(summary.estimate.rate);
  EXPECT_FALSE(summary.closed_loop);
  EXPECT_THAT(keys(findings_of(summary, {})), ElementsAre("no_rate_judged"));
}

}  // namespace
}  // namespace graphline
