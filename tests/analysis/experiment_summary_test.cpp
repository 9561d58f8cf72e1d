#include "framework/analysis/experiment/experiment_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "framework/analysis/experiment/comparisons.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/simulated_experiment.hpp"

namespace graphline {
namespace {

using samples::simulate;

/// Blocks of the sample pipeline under two timing methods; compares the second with the first.
experiment_record two_methods(std::size_t blocks, std::array<timing_method, 2> methods) {
  experiment_record record;
  for (std::size_t c = 0; c < 2; ++c) {
    record.configurations.push_back({"c" + std::to_string(c), {}, {"two_models"}});
  }
  record.pairs = {{{1, 0}, {0, 0}}};
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t c = 0; c < 2; ++c) {
      record.trials.push_back({c, b, 0, {samples::two_models(methods[c], 30 + b)}});
    }
  }
  return record;
}

TEST(experiment_summary, pools_the_frames_of_all_trials) {
  const auto record = two_methods(6, {timing_method::event, timing_method::event});
  const auto s = summarize(record);
  EXPECT_EQ(s.complete_blocks, 6u);
  EXPECT_EQ(s.trials_left_out, 0u);
  const auto& member = s.configurations.at(1).members.at(0);
  EXPECT_EQ(member.trials, 6u);
  std::vector<nanoseconds> all;
  nanoseconds running = 0;
  for (const auto& trial : record.trials) {
    if (trial.configuration != 1) continue;
    for (const auto& frame : trial.members[0].frames) all.push_back(frame.end - frame.due);
    running += trial.members[0].frames.back().end - trial.members[0].frames.front().begin;
  }
  const auto expected = *distribution::of(all);
  EXPECT_EQ(member.end_to_end->count(), all.size());
  EXPECT_EQ(member.tail, expected.percentile(0.95));
  EXPECT_DOUBLE_EQ(*member.throughput,
                   1e9 * static_cast<double>(all.size()) / static_cast<double>(running));
  EXPECT_EQ(member.trial_medians.size(), 6u);
  EXPECT_TRUE(member.between_trials);
  EXPECT_EQ(member.device_bytes, std::size_t{24} << 20);
  EXPECT_FALSE(member.cores);  // the sample records have no processor time
}

TEST(experiment_summary, compares_p50_tail_and_throughput_of_every_pair) {
  const auto s = summarize(simulate({.factors = {1, 2, 4}}, 1));
  ASSERT_EQ(s.comparisons.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(s.comparisons[i].pair.what.configuration, 1 + i / 3);
    EXPECT_EQ(s.comparisons[i].figure, static_cast<figure>(i % 3));
  }
  const auto& p50 = s.comparisons[0];
  EXPECT_EQ(p50.verdict, verdict::slower);
  EXPECT_EQ(p50.value, *s.configurations[1].members[0].end_to_end->percentile(0.5));
  EXPECT_EQ(p50.reference, *s.configurations[0].members[0].end_to_end->percentile(0.5));
  EXPECT_DOUBLE_EQ(p50.difference, p50.value - p50.reference);
  EXPECT_TRUE(p50.difference_range->contains(p50.difference));
  EXPECT_GT(p50.difference_range->low, 0);
  EXPECT_EQ(s.comparisons[2].verdict, verdict::slower);  // half the throughput
  EXPECT_NEAR(s.comparisons[2].ratio, 0.5, 0.1);
}

TEST(experiment_summary, has_no_interval_below_five_blocks_and_says_how_many_are_missing) {
  const auto s = summarize(simulate({.factors = {1, 2}, .blocks = 3}, 1));
  ASSERT_EQ(s.comparisons.size(), 3u);
  for (const auto& c : s.comparisons) {
    EXPECT_FALSE(c.ratio_range);
    EXPECT_FALSE(c.difference_range);
    EXPECT_EQ(c.verdict, verdict::inconclusive);
    EXPECT_EQ(c.more_trials, 2);
  }
  EXPECT_TRUE(summarize(simulate({.blocks = 5}, 1)).comparisons[0].ratio_range);
}

TEST(experiment_summary, leaves_out_blocks_with_a_failed_an_interrupted_or_a_missing_trial) {
  auto record = simulate({}, 1);
  record.trials[2].members[0].failure = "stage 'noise' failed in frame 3";
  record.trials[7].members[0].interrupted = true;
  record.trials.pop_back();
  const auto s = summarize(record);
  EXPECT_EQ(s.complete_blocks, 7u);
  EXPECT_EQ(s.trials_left_out, 5u);
  EXPECT_EQ(s.configurations[0].members[0].trials, 7u);
  EXPECT_EQ(s.configurations[0].members[0].trial_medians.size(), 7u);
}

TEST(experiment_summary, shows_available_trials_if_no_block_is_complete) {
  auto record = simulate({.blocks = 1}, 1);
  record.trials[1].members[0].failure = "out of memory";
  record.trials[1].members[0].frames.clear();
  const auto s = summarize(record);
  EXPECT_EQ(s.complete_blocks, 0u);
  EXPECT_EQ(s.trials_left_out, 1u);
  EXPECT_TRUE(s.configurations[0].members[0].end_to_end);
  EXPECT_FALSE(s.configurations[1].members[0].end_to_end);
  EXPECT_FALSE(s.configurations[1].members[0].throughput);
  EXPECT_TRUE(s.comparisons.empty());
}

TEST(experiment_summary, compares_no_throughput_of_a_schedule_with_a_few_frames_in_a_trial) {
  const auto with_frames = [](std::size_t frames) {
    auto record = simulate({.blocks = 6, .frames = frames}, 1);
    for (auto& trial : record.trials) {
      auto& run = trial.members[0];
      run.run.arrival = arrival::constant;
      run.run.rate = 100;
      for (std::size_t i = 0; i < run.frames.size(); ++i) {
        auto& frame = run.frames[i];
        const auto later = static_cast<nanoseconds>(i) * 10'000'000 - frame.begin;
        const auto length = std::min<nanoseconds>(frame.end - frame.begin, 9'000'000);
        frame = {frame.begin + later, frame.begin + later, frame.begin + later + length};
      }
    }
    return summarize(record);
  };
  const auto verdicts = [](const experiment_summary& s) {
    std::vector<verdict> result;
    for (const auto& c : s.comparisons) {
      if (c.figure == figure::throughput) result.push_back(c.verdict);
    }
    return result;
  };
  const auto few = with_frames(4);
  EXPECT_FALSE(few.configurations[0].members[0].throughput);
  EXPECT_TRUE(verdicts(few).empty());
  const auto enough = with_frames(5);
  EXPECT_DOUBLE_EQ(*enough.configurations[0].members[0].throughput, 100);
  EXPECT_EQ(verdicts(enough), std::vector(enough.comparisons.size() / 2, verdict::same));
}

TEST(experiment_summary, compares_no_median_of_too_few_frames) {
  const auto compares_p50 = [](std::size_t blocks) {
    const auto s = summarize(simulate({.blocks = blocks, .frames = 2}, 1));
    EXPECT_EQ(s.complete_blocks, blocks);
    return std::any_of(s.comparisons.begin(), s.comparisons.end(),
                       [](const comparison& c) { return c.figure == figure::p50; });
  };
  EXPECT_FALSE(compares_p50(2));  // of four frames
  EXPECT_TRUE(compares_p50(3));
}

TEST(experiment_summary, has_no_tail_for_too_few_frames) {
  auto record = simulate({.frames = 5}, 1);
  record.how.tail = 0.99;
  const auto s = summarize(record);
  EXPECT_FALSE(s.configurations[0].members[0].tail);
  EXPECT_TRUE(std::none_of(s.comparisons.begin(), s.comparisons.end(),
                           [](const comparison& c) { return c.figure == figure::tail; }));
}

TEST(experiment_summary, counts_affected_blocks_unless_they_were_repeated) {
  auto record = simulate({.blocks = 12, .throttled_blocks = {4}}, 1);
  const auto with = summarize(record);
  ASSERT_EQ(with.machine.affected_blocks, std::vector<std::size_t>{4});
  EXPECT_EQ(with.configurations[0].members[0].trials, 12u);
  record.how.repeat_affected = true;
  const auto without = summarize(record);
  EXPECT_EQ(without.complete_blocks, 12u);
  EXPECT_EQ(without.counted_blocks, 11u);
  EXPECT_EQ(without.configurations[0].members[0].trials, 11u);
  EXPECT_EQ(without.trials_left_out, 2u);
}

TEST(experiment_summary, never_counts_blocks_in_which_the_process_stood_still) {
  auto record = simulate({.factors = {1, 1}, .blocks = 12}, 1);
  for (auto& trial : record.trials) {
    if (trial.block != 4 || trial.configuration != 1) continue;
    auto& run = trial.members[0];
    run.conditions.emplace().standstills = {{run.frames[2].begin, 1'200'000'000}};
    for (std::size_t f = 2; f < run.frames.size(); ++f) run.frames[f].end += 1'200'000'000;
  }
  for (const bool repeat : {false, true}) {
    record.how.repeat_affected = repeat;
    const auto without = summarize(record);
    EXPECT_EQ(without.machine.stood_still_blocks, std::vector<std::size_t>{4});
    EXPECT_EQ(without.counted_blocks, 11u);
    EXPECT_EQ(without.trials_left_out, 2u);
    EXPECT_LT(without.configurations[1].members[0].end_to_end->max(), 1'000'000'000);
  }
}

TEST(experiment_summary, takes_a_rank_with_other_cores_for_another_rank) {
  auto record = simulate({.factors = {1, 1}, .blocks = 12}, 1);
  for (auto& trial : record.trials) {
    trial.place = trial_place{0, "here", trial.block < 5 ? 1 : 2};
    trial.members[0].cpu_cores = static_cast<int>(trial.configuration);  // workers may be varied
  }
  const auto found = summarize(record);
  ASSERT_EQ(found.ranks.size(), 2u);
  EXPECT_EQ(found.ranks[0].place->cores, 1);
  EXPECT_EQ(found.ranks[0].blocks, 5u);
  EXPECT_EQ(found.ranks[1].place->cores, 2);
  EXPECT_EQ(found.ranks[1].blocks, 7u);
}

TEST(experiment_summary, adds_up_load_deadlines_and_busy_cores) {
  auto record = simulate({.factors = {1}, .blocks = 2, .frames = 4}, 1);
  nanoseconds running = 0;
  for (auto& trial : record.trials) {
    auto& run = trial.members[0];
    run.run.deadline = 8'000'000;  // every frame takes some 10 ms
    run.load.dropped = {1, 2, 3};
    run.processor_time = 2 * (run.frames.back().end - run.frames.front().begin);
    running += run.processor_time;
    run.memory.device_bytes = 100 + trial.block;
  }
  const auto summary = summarize(record);
  const auto& member = summary.configurations[0].members[0];
  EXPECT_GT(running, 0);
  EXPECT_EQ(member.due, 14u);
  EXPECT_EQ(member.dropped, 6u);
  EXPECT_EQ(member.deadline.value().misses.missed, 14u);
  EXPECT_EQ(member.deadline.value().misses.frames, 14u);
  EXPECT_DOUBLE_EQ(member.cores.value(), 2);
  EXPECT_EQ(member.device_bytes, 101u);
}

TEST(experiment_summary, compares_stages_by_name_and_measure) {
  auto record = two_methods(6, {timing_method::event, timing_method::event});
  for (auto& trial : record.trials) {
    if (trial.configuration == 1) trial.members[0].stages.erase(trial.members[0].stages.begin());
  }
  const auto s = summarize(record);
  ASSERT_EQ(s.stage_comparisons.size(), 2u);  // noise and head
  EXPECT_EQ(s.stage_comparisons[0].stage, 0u);
  EXPECT_EQ(s.configurations[1].members[0].stages[0].name, "noise");
  for (const auto& c : s.stage_comparisons) {
    EXPECT_EQ(c.ratio, 1);
    EXPECT_EQ(c.verdict, verdict::same);
  }
}

TEST(experiment_summary, has_stage_intervals_by_students_t) {
  // Two-sided 5 % for 4, 5 and 9 degrees of freedom: Abramowitz and Stegun, table 26.10.
  for (const auto& [blocks, t] :
       {std::pair<std::size_t, double>{5, 2.776445}, {6, 2.570582}, {10, 2.262157}}) {
    auto record = two_methods(blocks, {timing_method::event, timing_method::event});
    std::array<std::vector<std::vector<nanoseconds>>, 2> times;
    for (auto& trial : record.trials) {
      auto& run = trial.members[0];
      run.stages.resize(1);  // a single interval has a level of 5 %
      const auto factor = static_cast<nanoseconds>(trial.block * (trial.configuration + 2));
      for (auto& s : run.stages[0].device) s.end += s.length() * (factor % 7) / 100;
      times[trial.configuration].push_back(lengths(run.stages[0].device));
    }
    const auto s = summarize(record);
    ASSERT_EQ(s.stage_comparisons.size(), 1u);
    std::vector<std::size_t> positions(blocks);
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    const sampled_blocks sampled({positions}, record.how.seed);
    const auto& draws = sampled.draws.front();
    const auto by = contrast::of(resample_percentile(pooled_times(times[1]), 0.5, draws),
                                 resample_percentile(pooled_times(times[0]), 0.5, draws), blocks);
    ASSERT_GT(by->error(), 0);
    const auto& range = *s.stage_comparisons[0].ratio_range;
    EXPECT_NEAR(std::log(range.high / range.low) / (2 * by->error()), t, 1e-5);
  }
}

TEST(experiment_summary, does_not_compare_launch_times_with_execution_times) {
  const auto s = summarize(two_methods(6, {timing_method::event, timing_method::host}));
  ASSERT_EQ(s.stage_comparisons.size(), 1u);  // the CPU stage
  EXPECT_EQ(s.configurations[1].members[0].stages[s.stage_comparisons[0].stage].name, "noise");
}

TEST(experiment_summary, has_stages_without_times_if_untimed) {
  const auto s = summarize(two_methods(6, {timing_method::event, timing_method::none}));
  EXPECT_TRUE(s.stage_comparisons.empty());
  ASSERT_EQ(s.configurations[1].members[0].stages.size(), 3u);
  EXPECT_FALSE(s.configurations[1].members[0].stages[0].what);
  EXPECT_FALSE(s.configurations[1].members[0].stages[0].times);
  EXPECT_EQ(s.configurations[0].members[0].stages[0].what, measure::device_time);
}

TEST(experiment_summary, compares_concurrent_pipelines_with_separate_runs) {
  auto record = simulate({.factors = {1, 1.5, 2}}, 1);
  // The third configuration runs the first two concurrently, each somewhat slower.
  record.configurations[2].members = {"camera", "batch"};
  for (auto& trial : record.trials) {
    if (trial.configuration == 2) trial.members.push_back(trial.members[0]);
  }
  record.pairs = {{{2, 0}, {0, 0}}, {{2, 1}, {1, 0}}};
  const auto s = summarize(record);
  ASSERT_EQ(s.comparisons.size(), 6u);
  EXPECT_NEAR(s.comparisons[0].ratio, 2, 0.1);
  EXPECT_NEAR(s.comparisons[3].ratio, 2 / 1.5, 0.1);
  EXPECT_EQ(s.comparisons[3].verdict, verdict::slower);
}

TEST(experiment_summary, accepts_frames_of_zero_length) {
  auto record = simulate({}, 1);
  for (auto& trial : record.trials) {
    for (auto& frame : trial.members[0].frames) frame = {};
  }
  const auto s = summarize(record);
  EXPECT_TRUE(s.comparisons.empty());
  EXPECT_FALSE(s.configurations[0].members[0].throughput);
}

}  // namespace
}  // namespace graphline
