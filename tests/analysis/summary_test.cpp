#include "framework/analysis/run/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<measure> measures(const stage_summary& stage) {
  std::vector<measure> result;
  for (const auto& column : stage.columns) result.push_back(column.what);
  return result;
}

TEST(summary, relates_parts_to_their_stage) {
  const auto record = samples::two_models_in_parts(6);
  const auto parts = summarize(record).stages[0].parts;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].times->count(), 6U);
  EXPECT_NEAR(*parts[0].share, 0.75, 1e-6);
  EXPECT_NEAR(*parts[1].share, 0.25, 1e-6);
}

TEST(summary, has_no_times_of_untimed_parts) {
  auto record = samples::two_models_in_parts(6);
  for (auto& part : record.stages[0].parts) part.device.clear();
  const auto summary = summarize(record);
  for (const auto& part : summary.stages[0].parts) {
    EXPECT_FALSE(part.times);
    EXPECT_FALSE(part.share);
  }
}

TEST(summary, has_no_launch_of_a_stage_in_a_frame_graph) {
  settings run;
  run.graphs = graph_mode::frame;
  EXPECT_EQ(measures_of(side::device, run), std::vector{measure::device_time});
  run.graphs = graph_mode::stage;
  EXPECT_EQ(measures_of(side::device, run),
            (std::vector{measure::device_time, measure::enqueue_time}));
}

TEST(summary, gives_each_stage_the_times_its_method_takes) {
  const auto event = summarize(samples::two_models(timing_method::event, 5));
  EXPECT_THAT(measures(event.stages[0]), ElementsAre(measure::device_time, measure::enqueue_time));
  EXPECT_THAT(measures(event.stages[1]), ElementsAre(measure::cpu_time));
  const auto host = summarize(samples::two_models(timing_method::host, 5));
  EXPECT_THAT(measures(host.stages[0]), ElementsAre(measure::enqueue_time));
  const auto sync = summarize(samples::two_models(timing_method::sync, 5));
  EXPECT_THAT(measures(sync.stages[0]), ElementsAre(measure::synchronized_time));
  EXPECT_THAT(measures(sync.stages[1]), ElementsAre(measure::cpu_time));
  const auto none = summarize(samples::two_models(timing_method::none, 5));
  EXPECT_THAT(none.stages[0].columns, IsEmpty());
  EXPECT_FALSE(none.stages[0].share);
}

TEST(summary, counts_latency_from_when_a_frame_was_due) {
  run_record record;
  record.frames = {{.due = 100, .begin = 130, .end = 150}};
  EXPECT_EQ(summarize(record).end_to_end->mean(), 50);
}

TEST(summary, has_no_shares_or_queue_waits_if_latency_grows) {
  const auto s = summarize(samples::overloaded_two_models(300));
  for (const auto& stage : s.stages) EXPECT_FALSE(stage.share);
  const auto& wait = *s.load->queue_wait;
  for (const double p : {0.5, 0.9, 0.95, 0.99}) EXPECT_FALSE(wait.percentile(p)) << p;
  EXPECT_EQ(wait.why_unsettled(), "overloaded: latency grows with the run's length");
  EXPECT_EQ(wait.max(), nanoseconds{299} * 24'005'000);  // 24.005 ms more with each frame
  const auto kept = summarize(samples::two_models_on_schedule(45));
  EXPECT_TRUE(kept.stages[0].share);
  EXPECT_TRUE(kept.load->queue_wait->percentile(0.5));
}

TEST(summary, counts_what_was_due_on_a_schedule_and_how_long_it_waited) {
  EXPECT_FALSE(summarize(samples::two_models(timing_method::event, 3)).load);
  run_record record;
  record.run.arrival = arrival::constant;
  record.frames = {{.due = 0, .begin = 10, .end = 500'000'000},
                   {.due = 500'000'000, .begin = 500'000'040, .end = 600'000'000},
                   {.due = 2'000'000'000, .begin = 2'000'000'020, .end = 2'100'000'000}};
  record.load.dropped = {1'000'000'000, 1'500'000'000};
  const auto load = summarize(record).load;
  ASSERT_TRUE(load);
  EXPECT_EQ(load->due, 5U);
  EXPECT_EQ(load->dropped, 2U);
  EXPECT_DOUBLE_EQ(*load->offered, 2);  // five in two seconds, counting one end
  EXPECT_EQ(load->queue_wait->median(), 20);
  EXPECT_EQ(load->queue_wait->max(), 40);
}

TEST(summary, lets_a_run_last_until_the_next_frame_would_be_due) {
  run_record record;
  record.run.arrival = arrival::constant;
  record.run.rate = 2;
  record.frames = {{.due = 1'000'000'000, .begin = 1'000'000'010, .end = 1'500'000'000},
                   {.due = 1'500'000'000, .begin = 1'500'000'040, .end = 1'600'000'000}};
  EXPECT_EQ(running_time(record), 1'000'000'000);
  record.load.dropped = {2'000'000'000, 3'500'000'000};
  EXPECT_EQ(running_time(record), 3'000'000'000);
  record.load.dropped = {500'000'000};
  EXPECT_EQ(running_time(record), 1'500'000'000);
  record.frames.back().end = 9'000'000'000;
  EXPECT_EQ(running_time(record), 8'500'000'000);
}

TEST(summary, has_no_offered_rate_for_fewer_than_two_frames) {
  run_record record;
  record.run.arrival = arrival::poisson;
  EXPECT_FALSE(summarize(record).load->offered);
  EXPECT_FALSE(summarize(record).load->queue_wait);
  record.frames = {{.due = 5, .begin = 6, .end = 7}};
  EXPECT_FALSE(summarize(record).load->offered);
}

TEST(summary, relates_stages_to_the_mean_end_to_end_time) {
  const auto s = summarize(samples::run_of(timing_method::event, {{}, {}}));
  EXPECT_DOUBLE_EQ(*s.stages[0].share, 70.0 / 74);
  EXPECT_DOUBLE_EQ(*s.stages[1].share, 16.0 / 74);
}

TEST(summary, is_empty_rather_than_zero_without_frames) {
  auto record = samples::two_models(timing_method::event, 0);
  record.run.deadline = 20;
  const auto s = summarize(record);
  EXPECT_FALSE(s.end_to_end);
  EXPECT_FALSE(s.throughput);
  EXPECT_FALSE(s.stages[0].columns[0].times);
  EXPECT_FALSE(s.stages[0].share);
  EXPECT_EQ(s.deadline->misses.missed, 0u);
  EXPECT_FALSE(s.deadline->worst_late);
}

TEST(summary, counts_missed_deadlines_and_by_how_much) {
  run_record record;
  for (const nanoseconds time : {10, 20, 21, 25, 40}) record.frames.push_back({0, 0, time});
  EXPECT_FALSE(summarize(record).deadline);
  record.run.deadline = 20;
  const auto s = summarize(record);
  EXPECT_EQ(s.deadline->limit, 20);
  EXPECT_EQ(s.deadline->misses.missed, 3u);
  EXPECT_EQ(s.deadline->median_late, 5);
  EXPECT_EQ(s.deadline->worst_late, 20);
}

TEST(summary, counts_frames_that_were_dropped_or_overdue_at_an_early_end_as_missed) {
  run_record record;
  record.run.arrival = arrival::constant;
  record.run.rate = 1e8;
  record.run.deadline = 20;
  for (const nanoseconds due : {0, 10, 20}) record.frames.push_back({due, due, due + 10 + due});
  record.load.dropped = {30, 40};
  record.load.unfinished = {50, 60, 70};
  record.load.ended = 80;  // 30, 20 and 10 ns after their due times
  const auto s = summarize(record);
  EXPECT_EQ(s.load->due, 8u);
  EXPECT_EQ(s.load->unfinished, 3u);
  EXPECT_EQ(s.deadline->misses.missed, 4u);
  EXPECT_EQ(s.deadline->misses.dropped, 2u);
  EXPECT_EQ(s.deadline->misses.frames, 6u);
  EXPECT_EQ(s.deadline->worst_late, 10);
  EXPECT_NEAR(s.load->offered.value(), 1e8, 1e-3);
}

TEST(summary, counts_frames_that_were_cut_short_as_dropped_and_missed) {
  run_record record;
  record.run.deadline = 20;
  for (const nanoseconds due : {0, 10, 50}) record.frames.push_back({due, due, due + 10});
  record.load.dropped = {20, 80};
  record.load.cut_short = 2;
  const auto s = summarize(record);
  EXPECT_EQ(s.deadline->misses.missed, 2u);
  EXPECT_EQ(s.deadline->misses.dropped, 2u);
  EXPECT_EQ(s.deadline->misses.cut_short, 2u);
  EXPECT_EQ(s.deadline->misses.frames, 5u);
  EXPECT_EQ(s.end_to_end->count(), 3u);
  EXPECT_NEAR(s.throughput.value(), 3e9 / 80, 1e-3) << "time passes in frames that are cut short";
}

TEST(summary, uses_the_busy_time_of_the_device) {
  samples::frame_times f;
  f.backbone = 30'000'000;
  auto record = samples::run_of(timing_method::event, {f, f, f});
  auto& backbone = record.stages.at(0);
  ASSERT_EQ(backbone.name, "backbone");
  backbone.busy = {10'000'000, 11'000'000, 12'000'000};
  const auto summary = summarize(record);
  EXPECT_EQ(summary.stages[0].columns[0].times->median(), 11'000'000);
  EXPECT_EQ(device_times(record.stages[0]), backbone.busy);
  const part_record part{
      .name = "0.conv2d", .choice = "", .device = {{0, 10}, {20, 40}}, .busy = {4, 5}};
  EXPECT_EQ(device_times(part), part.busy);
}

TEST(summary, lists_warnings_of_the_record_first) {
  samples::frame_times f;
  f.backbone = 26'000;  // launched in 21 us
  auto record = samples::run_of(timing_method::event, {f, f, f});
  record.warnings = {"the planner's own"};
  const auto warnings = summarize(record).findings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(*warnings[0].find("text"), finding::figure(std::string("the planner's own")));
  EXPECT_EQ(warnings[1].key, "device_time_may_hold_waits");
}

TEST(operations, are_summarized_by_calls_per_frame_and_medians) {
  auto record = samples::two_models(timing_method::event, 5);
  samples::add_operations(record);
  const auto found = operations_of(record.stages[0]);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].calls, 2);
  EXPECT_EQ(found[0].median, 20'000'000);
  EXPECT_EQ(found[0].together, 60'000'000);
  EXPECT_EQ(found[1].name, "gelu");
  EXPECT_EQ(found[1].part, "0.conv2d+1.gelu");
  EXPECT_EQ(found[1].calls, 1);
  EXPECT_TRUE(operations_of(record.stages[1]).empty());
}

}  // namespace
}  // namespace graphline
