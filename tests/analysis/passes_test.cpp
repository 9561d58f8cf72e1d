#include "framework/analysis/run/passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/run/timeline.hpp"
#include "tests/analysis/made_run.hpp"

namespace graphline {
namespace {

using samples::made_run;
using samples::path_of;
using testing::ElementsAre;

/// Three frames in two passes: frames 0 and 1 from 30 to 130, frame 2 from 200 to 300. The first
/// pass was ready at 10, the second at 190.
made_run batched() {
  made_run made(strategy::serial);
  made.cpu_stage("work");
  made.frame(30, 130, 0).cpu(0, 30, 110);
  made.frame(30, 130, 20);
  made.frame(200, 300, 150).cpu(0, 220, 300);
  made.record.stages[0].rows = {2, 1};
  made.record.stages[0].capacity = 2;
  made.record.run.arrival = arrival::constant;
  made.record.run.rate = 1e7;
  made.record.run.batch_frames = 2;
  made.record.batches = {{2, 10}, {1, 190}};
  return made;
}

TEST(passes, hold_frames_in_order) {
  const auto made = batched();
  const run_passes passes(made.record);
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes.of(0), 0U);
  EXPECT_EQ(passes.of(1), 0U);
  EXPECT_EQ(passes.of(2), 1U);
  EXPECT_EQ(passes.first_frame(1), 2U);
  EXPECT_EQ(passes.frames_in(0), 2U);
  EXPECT_EQ(passes[1].due, 150);
}

TEST(passes, divide_the_wait_of_each_frame) {
  const auto made = batched();
  EXPECT_THAT(queue_wait_times(made.record), ElementsAre(10, 0, 40));
  EXPECT_THAT(batch_wait_times(made.record), ElementsAre(20, 10, 10));
}

TEST(passes, are_frames_without_batches) {
  auto made = batched();
  made.record.batches.clear();
  EXPECT_EQ(run_passes(made.record).size(), 3U);
  EXPECT_THAT(queue_wait_times(made.record), ElementsAre(30, 10, 50));
  EXPECT_FALSE(batches_of(made.record));
}

TEST(passes, give_each_frame_its_own_waits_and_the_work_of_its_batch) {
  const auto made = batched();
  EXPECT_EQ(path_of(made.record, 0),
            "queue_wait 0-10, batch_wait 10-30, cpu work 30-110, completion_delay 110-130");
  EXPECT_EQ(path_of(made.record, 1), "batch_wait 20-30, cpu work 30-110, completion_delay 110-130");
  EXPECT_EQ(path_of(made.record, 2),
            "queue_wait 150-190, batch_wait 190-200, worker_wait work 200-220, cpu work 220-300");
}

TEST(passes, count_each_frame_in_means) {
  const auto made = batched();
  const auto summary = attribute(made.record);
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->end_to_end.all, (130 + 110 + 150) / 3.0);
  double sum = summary->residual.all;
  for (const auto& row : summary->rows) sum += row.all;
  EXPECT_NEAR(sum, summary->end_to_end.all, 1e-9);
  EXPECT_DOUBLE_EQ(summary->stages[0].on_path, 80);
  EXPECT_DOUBLE_EQ(*summarize(made.record).stages[0].share, 240.0 / (130 + 110 + 150));
}

TEST(passes, are_summarized_by_size) {
  const auto made = batched();
  const auto found = batches_of(made.record);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->mean, 1.5);
  ASSERT_EQ(found->sizes.size(), 2U);
  EXPECT_EQ(found->sizes[0].low, 1);
  EXPECT_EQ(found->sizes[1].frames, 2U);
  EXPECT_EQ(found->sizes[1].times->mean(), 100);
}

TEST(passes, complete_their_frames_together) {
  made_run made(strategy::serial);
  made.cpu_stage("work");
  for (int pass = 0; pass < 4; ++pass) {
    for (int frame = 0; frame < 2; ++frame) made.frame(100 * pass, 100 * pass + 100, 0);
    made.cpu(0, 100 * pass, 100 * pass + 90);
    made.record.batches.push_back({2, 100 * pass});
  }
  made.record.run.arrival = arrival::constant;
  made.record.run.rate = 1e9;
  made.record.run.batch_frames = 2;
  // A pass of two frames ends every 100 ns.
  EXPECT_DOUBLE_EQ(*frame_period(made.record), 50);
}

TEST(passes, have_no_period_if_only_one_ended_and_frames_were_dropped) {
  made_run made(strategy::serial);
  made.cpu_stage("work");
  for (int frame = 0; frame < 6; ++frame) made.frame(60, 160, 10 * frame);
  made.cpu(0, 60, 150);
  made.record.batches = {{6, 0}};
  made.record.load.dropped = {70, 80};
  made.record.run.arrival = arrival::constant;
  made.record.run.rate = 1e8;
  made.record.run.batch_frames = 6;
  EXPECT_EQ(frame_period(made.record), std::nullopt);
}

TEST(passes, share_their_spans) {
  const auto made = batched();
  const timeline picture(made.record);
  EXPECT_EQ(picture.spans_of(1).front().begin, 220);
  EXPECT_TRUE(picture.spans_of(2).empty());
}

}  // namespace
}  // namespace graphline
