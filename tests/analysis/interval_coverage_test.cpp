// Checks the coverage and error rates stated in docs/verdicts.md with experiments whose truth is
// known. Seeds are fixed, so results are deterministic.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "tests/analysis/simulated_experiment.hpp"

namespace graphline {
namespace {

using samples::simulate;
using samples::simulated_experiment;

double true_ratio(const comparison& c, const simulated_experiment& as) {
  const double times = as.factors[c.pair.what.configuration] / as.factors[0];
  return c.figure == figure::throughput ? 1 / times : times;
}

/// Percentage of experiments in which all intervals contain the truth.
double coverage(const simulated_experiment& as, int experiments) {
  int held = 0;
  for (int seed = 0; seed < experiments; ++seed) {
    const auto s = summarize(simulate(as, static_cast<std::uint64_t>(seed)));
    held += std::all_of(s.comparisons.begin(), s.comparisons.end(), [&](const comparison& c) {
      return c.ratio_range.value().contains(true_ratio(c, as));
    });
  }
  const double percent = 100.0 * held / experiments;
  ::testing::Test::RecordProperty("coverage_percent", std::to_string(percent));
  return percent;
}

// At 400 experiments, the standard deviation of the percentage is 1.
TEST(intervals, hold_together_with_95_percent) {
  const std::tuple<simulated_experiment, int, double> cases[] = {
      {{.factors = {1, 1.03}}, 800, 3},  // 10 blocks
      {{.factors = {1, 1.03}, .blocks = 30}, 400, 3},
      {{.factors = {1, 1.03}, .blocks = least_blocks}, 800, 3},
      {{.factors = {1, 1, 0.8, 1.03, 2}}, 400, 3.5},
      {{.factors = std::vector<double>(9, 1.0), .blocks = 30, .frames = 10}, 400, 3},
      {{.trial_spread = 0.001}, 400, 3.5},
      {{.trial_spread = 0.05}, 400, 3.5},
      {{.drift = 0.1}, 400, 3}};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const auto& [as, experiments, reach] = cases[i];
    EXPECT_NEAR(coverage(as, experiments), 95, reach) << "case " << i;
  }
}

TEST(intervals, hold_where_every_tenth_trial_is_30_percent_slower) {
  EXPECT_GE(coverage({.contaminated = 0.1}, 400), 92);
  EXPECT_GE(coverage({.blocks = 30, .contaminated = 0.1}, 400), 92);
}

TEST(intervals, hold_nearly_as_often_when_they_decide_when_to_stop) {
  const simulated_experiment as{.blocks = 60};
  int held = 0;
  constexpr int experiments = 300;
  for (int seed = 0; seed < experiments; ++seed) {
    const auto whole = simulate(as, static_cast<std::uint64_t>(seed));
    auto record = whole;
    record.trials.clear();
    for (const auto& trial : whole.trials) {
      record.trials.push_back(trial);
      const bool block_ends = trial.configuration + 1 == as.factors.size();
      if (block_ends && narrow_enough(record, 0.015)) break;
    }
    const auto s = summarize(record);
    EXPECT_LE(s.comparisons[0].ratio_range.value().high, s.comparisons[0].ratio * 1.015);
    held += std::all_of(s.comparisons.begin(), s.comparisons.end(),
                        [&](const comparison& c) { return c.ratio_range.value().contains(1); });
  }
  RecordProperty("coverage_percent", std::to_string(100.0 * held / experiments));
  EXPECT_GE(100.0 * held / experiments, 91);
}

/// Experiments in which a known fraction of frames misses its deadline: some late, some dropped.
/// Block effects are shared by both configurations, trial effects are not.
struct deadline_experiment {
  double reference = 0.2;
  double value = 0.2;
  std::size_t blocks = 10;
  std::size_t frames = 40;
  double block_spread = 0.05;
  double trial_spread = 0.03;

  experiment_record run(std::uint64_t seed) const {
    auto record = simulate({.blocks = blocks, .frames = frames}, seed);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> of_block;
    for (std::size_t b = 0; b < blocks; ++b) of_block.push_back(block_spread * normal(random));
    for (auto& trial : record.trials) {
      auto& run = trial.members[0];
      run.run.deadline = 50'000'000;  // no frame takes so long by itself
      const double share = (trial.configuration == 0 ? reference : value) + of_block[trial.block] +
                           trial_spread * normal(random);
      std::vector<frame_record> kept;
      for (auto frame : run.frames) {
        const bool missed = uniform_unit(random) < share;
        if (missed && kept.size() % 2 == 1) {
          run.load.dropped.push_back(frame.due);
          continue;
        }
        if (missed) frame.end += 50'000'000;
        kept.push_back(frame);
      }
      run.frames = kept;
    }
    return record;
  }
};

const comparison& late_frames(const experiment_summary& of) {
  return *find_comparison(of, {{1, 0}, {0, 0}}, figure::late);
}

TEST(intervals, of_late_frames_hold_the_difference_of_shares) {
  const deadline_experiment cases[] = {{.reference = 0.2, .value = 0.33},
                                       {.reference = 0.8, .value = 0.7},
                                       {.reference = 0.15, .value = 0.15, .blocks = 30}};
  for (const auto& as : cases) {
    constexpr int experiments = 300;
    int held = 0;
    for (int seed = 0; seed < experiments; ++seed) {
      const auto summary = summarize(as.run(static_cast<std::uint64_t>(seed)));
      const auto& late = late_frames(summary);
      held += late.difference_range.value().contains(as.value - as.reference);
      EXPECT_EQ(late.ratio_range, std::nullopt);
    }
    EXPECT_GE(100.0 * held / experiments, 94) << as.value;
  }
}

TEST(intervals, of_late_frames_allow_for_misses_that_were_not_observed) {
  const auto none = [](std::size_t frames) {
    const deadline_experiment as{
        .reference = 0, .value = 0, .frames = frames, .block_spread = 0, .trial_spread = 0};
    return late_frames(summarize(as.run(1)));
  };
  const auto few = none(20);  // 95 % upper limit after 200 frames without a miss: 1.5 %
  EXPECT_EQ(few.verdict, verdict::inconclusive);
  EXPECT_GE(few.difference_range->high, 0.015);
  EXPECT_EQ(none(200).verdict, verdict::same);
}

TEST(verdicts, on_late_frames_find_true_differences_and_rarely_false_ones) {
  int found = 0;
  int false_ones = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto verdict_of = [seed](double value) {
      return late_frames(summarize(deadline_experiment{.value = value}.run(seed))).verdict;
    };
    found += verdict_of(0.4) == verdict::slower;
    const auto equal = verdict_of(0.2);
    false_ones += equal == verdict::slower || equal == verdict::faster;
  }
  EXPECT_GE(found, 190);
  EXPECT_LE(false_ones, 12);
}

/// Percentage of experiments with any verdict of faster or slower.
double called_different(const simulated_experiment& as, int experiments) {
  int called = 0;
  for (int seed = 0; seed < experiments; ++seed) {
    const auto s = summarize(simulate(as, static_cast<std::uint64_t>(seed)));
    called += std::any_of(s.comparisons.begin(), s.comparisons.end(), [](const comparison& c) {
      return c.verdict == verdict::faster || c.verdict == verdict::slower;
    });
  }
  return 100.0 * called / experiments;
}

TEST(verdicts, call_one_of_five_equal_configurations_different_in_5_percent_of_experiments) {
  EXPECT_LE(called_different({.factors = std::vector<double>(5, 1.0)}, 400), 8);
  EXPECT_LE(called_different({.factors = std::vector<double>(5, 1.0), .blocks = 30}, 200), 9);
}

/// Percentage of experiments in which the p50 of the second configuration gets a verdict.
double given(verdict wanted, const simulated_experiment& as, double margin, int experiments) {
  int found = 0;
  for (int seed = 0; seed < experiments; ++seed) {
    auto record = simulate(as, static_cast<std::uint64_t>(seed));
    record.how.margin = margin;
    found += summarize(record).comparisons.front().verdict == wanted ? 1 : 0;
  }
  return 100.0 * found / experiments;
}

// Each rank runs blocks at its own speed, so that pooled frames have several modes.
TEST(intervals, of_ranks_of_different_speed_hold_together_with_95_percent) {
  EXPECT_NEAR(coverage({.factors = {1, 1.03}, .ranks = {1, 1.2}}, 800), 95, 3);
  EXPECT_NEAR(coverage({.factors = {1, 1.03}, .blocks = 30, .ranks = {1, 1.2}}, 400), 95, 3);
  EXPECT_NEAR(coverage({.factors = {1, 0.9}, .blocks = 9, .ranks = {1, 1.2, 3, 1}}, 400), 95, 3.5);
  EXPECT_NEAR(coverage({.factors = {1, 1.03}, .blocks = blocks_needed(2), .ranks = {1, 2}}, 800),
              95, 3);
}

TEST(verdicts, on_equal_configurations_are_not_made_different_by_ranks_of_different_speed) {
  EXPECT_LE(called_different({.ranks = {1, 1.2}}, 400), 7);
  EXPECT_LE(called_different({.blocks = 20, .ranks = {1, 1.2, 1.5, 2}}, 400), 7);
}

TEST(verdicts, of_ranks_of_different_speed_find_what_one_machine_finds) {
  EXPECT_GE(given(verdict::slower, {.factors = {1, 1.05}, .ranks = {1, 1.2}}, 0.01, 200), 95);
  EXPECT_GE(given(verdict::same, {.blocks = 30, .ranks = {1, 1.2}}, 0.02, 200), 97);
}

TEST(verdicts, need_one_block_more_for_each_further_rank) {
  for (const std::size_t blocks : {5, 6}) {
    const auto found = summarize(simulate({.blocks = blocks, .ranks = {1, 1.2}}, 1));
    EXPECT_EQ(found.needed_blocks, 6U);
    EXPECT_EQ(found.comparisons.front().ratio_range.has_value(), blocks == 6);
  }
}

TEST(steadiness, of_ranks_is_judged_at_the_level_of_each) {
  const simulated_experiment as{.blocks = 20, .throttled_blocks = {7}, .ranks = {1, 1.5}};
  const auto found = steadiness_of(simulate(as, 3));
  EXPECT_EQ(found.affected_blocks, std::vector<std::size_t>{7});
  EXPECT_FALSE(found.drift);
}

TEST(verdicts, find_a_difference_of_5_percent_with_10_blocks) {
  EXPECT_GE(given(verdict::slower, {.factors = {1, 1.05}}, 0.01, 200), 97);
  EXPECT_GE(given(verdict::faster, {.factors = {1.05, 1}}, 0.01, 200), 97);
}

TEST(verdicts, find_sameness_within_2_percent_with_30_blocks) {
  EXPECT_GE(given(verdict::same, {.blocks = 30}, 0.02, 200), 97);
}

TEST(verdicts, find_a_difference_of_5_percent_under_a_drift_of_10) {
  EXPECT_GE(given(verdict::slower, {.factors = {1, 1.05}, .drift = 0.1}, 0.01, 200), 95);
}

TEST(more_trials, decide_most_experiments_that_make_them) {
  // The true difference is 1.5 %. The estimate of missing trials varies with the observed
  // difference, so use that of the median experiment.
  const simulated_experiment as{.factors = {1, 1.015}};
  std::vector<std::int64_t> told;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto p50 = summarize(simulate(as, seed)).comparisons.front();
    if (p50.verdict == verdict::inconclusive && p50.more_trials) told.push_back(*p50.more_trials);
  }
  ASSERT_GE(told.size(), 50u);
  std::sort(told.begin(), told.end());
  const auto more = static_cast<std::size_t>(told[told.size() / 2]);
  RecordProperty("median_more_trials", std::to_string(more));
  auto longer = as;
  longer.blocks += more;
  const double decided = given(verdict::slower, longer, 0.01, 100);
  RecordProperty("decided_percent", std::to_string(decided));
  EXPECT_GE(decided, 65);
  // The estimate is not far too large either.
  auto third = as;
  third.blocks += more / 3;
  EXPECT_LE(given(verdict::slower, third, 0.01, 100), 80);
}

}  // namespace
}  // namespace graphline
