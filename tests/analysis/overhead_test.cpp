#include "framework/analysis/experiment/overhead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

TEST(overhead, is_the_difference_to_none_within_each_block) {
  const auto s = summarize(samples::two_models_overhead(8));
  EXPECT_EQ(s.complete_blocks, 8u);
  EXPECT_EQ(s.trials_left_out, 0u);
  const auto* sync = s.find(timing_method::sync);
  ASSERT_TRUE(sync->cost && sync->cost->range);
  EXPECT_NEAR(sync->cost->median, 16e6, 0.1e6);
  EXPECT_NEAR(sync->cost->percent(sync->cost->median), 100 * 16.0 / 74, 0.2);
  EXPECT_GT(sync->cost->range->low, 15e6);
  EXPECT_LT(sync->cost->range->high, 17e6);
  EXPECT_FALSE(s.find(timing_method::none)->cost);
}

TEST(overhead, is_not_widened_by_drift_that_a_block_shares) {
  // Drift is 0.1 % of 74 ms from block to block, 590 us over all; paired differences only see the
  // 0.01 %, and eight of them are worth an interval from the least to the greatest.
  const auto s = summarize(samples::two_models_overhead(8));
  const auto* event = s.find(timing_method::event);
  EXPECT_LT(event->cost->range->high - event->cost->range->low, 40e3);
  EXPECT_GT(*event->end_to_end->spread, 20e3);
}

TEST(overhead, has_quartiles_by_nearest_rank_from_four_trials_on) {
  // Of every two of these the difference is another one.
  const std::vector<double> times = {64, 1, 16, 4, 128, 2, 8, 32};
  const auto spread = [&](std::size_t trials) {
    auto some = times;
    std::ranges::sort(some);
    some.resize(trials);
    std::ranges::reverse(some);
    return trial_figure::of(some)->spread;
  };
  EXPECT_FALSE(spread(3));
  EXPECT_EQ(spread(4), 4 - 1);   // the 3rd and the 1st of 4
  EXPECT_EQ(spread(5), 8 - 2);   // the 4th (of 3.75) and the 2nd (of 1.25)
  EXPECT_EQ(spread(6), 16 - 2);  // the 5th (of 4.5) and the 2nd (of 1.5)
  EXPECT_EQ(spread(7), 32 - 2);  // the 6th (of 5.25) and the 2nd (of 1.75)
  EXPECT_EQ(spread(8), 32 - 2);  // the 6th and the 2nd
  EXPECT_EQ(trial_figure::of(times)->trials, times);
  EXPECT_EQ(trial_figure::of(times)->spread, 32 - 2);
}

TEST(overhead, gives_each_stage_the_time_its_method_reports) {
  const auto s = summarize(samples::two_models_overhead(4));
  ASSERT_EQ(s.stages, (std::vector<std::string>{"backbone", "noise", "head"}));
  EXPECT_TRUE(s.find(timing_method::none)->stages.empty());
  const auto& host = s.find(timing_method::host)->stages;
  EXPECT_EQ(host[0].what, measure::enqueue_time);
  EXPECT_DOUBLE_EQ(host[0].time->median, 21'000);
  const auto& sync = s.find(timing_method::sync)->stages;
  EXPECT_EQ(sync[0].what, measure::synchronized_time);
  EXPECT_DOUBLE_EQ(sync[0].time->median, 70e6);
  EXPECT_EQ(sync[1].what, measure::cpu_time);
  const auto& event = s.find(timing_method::event)->stages;
  EXPECT_EQ(event[2].what, measure::device_time);
  EXPECT_DOUBLE_EQ(event[2].time->median, 400'000);
}

TEST(overhead, leaves_out_a_last_block_that_is_incomplete) {
  auto record = samples::two_models_overhead(5);
  record.trials.pop_back();
  const auto s = summarize(record);
  EXPECT_EQ(s.complete_blocks, 4u);
  EXPECT_EQ(s.trials_left_out, 3u);
  EXPECT_EQ(s.find(timing_method::none)->end_to_end->trials.size(), 4u);
}

TEST(overhead, leaves_out_blocks_with_an_interrupted_or_failed_trial) {
  auto record = samples::two_models_overhead(6);
  record.trials[5].record.failure = "stage 'noise' failed in frame 3";
  record.trials.back().record.interrupted = true;
  EXPECT_EQ(summarize(record).complete_blocks, 4u);
}

TEST(overhead, has_no_interval_below_six_blocks) {
  const auto s = summarize(samples::two_models_overhead(5));
  const auto* sync = s.find(timing_method::sync);
  ASSERT_TRUE(sync->cost);
  EXPECT_FALSE(sync->cost->range);
}

TEST(overhead, shows_what_there_is_when_no_block_is_complete) {
  auto record = samples::two_models_overhead(1);
  record.trials.pop_back();
  const auto s = summarize(record);
  EXPECT_EQ(s.complete_blocks, 0u);
  EXPECT_TRUE(s.find(timing_method::sync)->end_to_end);
  EXPECT_FALSE(s.find(timing_method::sync)->cost);
  EXPECT_FALSE(s.find(timing_method::event)->end_to_end);
}

TEST(overhead, of_a_disturbed_machine_has_the_warning_of_a_run) {
  auto record = samples::two_models_overhead(2);
  EXPECT_TRUE(summarize(record).warnings.empty());
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  record.conditions->others = 17'000'000'000;
  EXPECT_EQ(summarize(record).warnings,
            (std::vector<std::string>{"disturbed (machine noise): other processes kept 1.70 of 2 "
                                      "cores busy"}));
}

TEST(overhead, of_no_trials_is_empty) {
  overhead_record record;
  record.methods = {timing_method::none, timing_method::event};
  const auto s = summarize(record);
  EXPECT_EQ(s.methods.size(), 2u);
  EXPECT_FALSE(s.methods[0].end_to_end);
  EXPECT_TRUE(s.stages.empty());
}

TEST(overhead, takes_the_median_of_a_trial_so_that_one_late_frame_does_not_count) {
  auto record = samples::two_models_overhead(4);
  for (auto& trial : record.trials) {
    if (trial.record.run.timing == timing_method::event) {
      trial.record.frames.back().end += 1'000'000'000;
    }
  }
  EXPECT_LT(summarize(record).find(timing_method::event)->cost->median, 1e6);
}

TEST(overhead, pairs_trials_by_block_and_not_by_order) {
  auto record = samples::two_models_overhead(12);
  const auto s = summarize(record);
  std::reverse(record.trials.begin(), record.trials.end());
  const auto reversed = summarize(record);
  const auto& range = s.find(timing_method::sync)->cost->range;
  ASSERT_TRUE(range);
  EXPECT_EQ(reversed.find(timing_method::sync)->cost->range.value().low, range->low);
}

}  // namespace
}  // namespace graphline
