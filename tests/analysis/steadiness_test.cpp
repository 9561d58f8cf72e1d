#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "tests/analysis/simulated_experiment.hpp"

namespace graphline {
namespace {

using samples::simulate;
using samples::simulated_experiment;

TEST(change_over, finds_a_trend_and_is_robust_against_outliers) {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(0.01 * i);
  EXPECT_NEAR(change_over(values).value(), 0.11, 1e-9);
  values[11] = -5;
  EXPECT_NEAR(change_over(values).value(), 0.11, 0.01);
}

TEST(change_over, is_empty_without_a_trend_or_for_few_values) {
  EXPECT_FALSE(change_over(std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(change_over(std::vector<double>{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}));
  EXPECT_FALSE(change_over(std::vector<double>(20, 7.0)));
}

TEST(steadiness, finds_drift) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto drift = steadiness_of(simulate({.blocks = 20, .drift = 0.1}, seed)).drift;
    if (!drift) continue;
    ++found;
    EXPECT_NEAR(*drift, std::expm1(0.1), 0.06);
  }
  EXPECT_GE(found, 97);
}

TEST(steadiness, finds_throttled_blocks_even_three_in_a_row_and_beside_drift) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<std::size_t> slow = {3, 4, 5, 11};
    const auto machine = steadiness_of(simulate({.blocks = 20,
                                                 .block_spread = 0.003,
                                                 .trial_spread = 0.005,
                                                 .drift = 0.1,
                                                 .throttled_blocks = slow},
                                                seed));
    for (const auto block : slow) {
      EXPECT_NE(std::find(machine.affected_blocks.begin(), machine.affected_blocks.end(), block),
                machine.affected_blocks.end())
          << "block " << block << " of " << seed;
    }
  }
}

TEST(steadiness, raises_few_false_alarms) {
  int drifts = 0;
  int affected = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto machine = steadiness_of(simulate({.blocks = seed % 2 == 0 ? 10u : 20u}, seed));
    drifts += machine.drift ? 1 : 0;
    affected += machine.affected_blocks.empty() ? 0 : 1;
  }
  // Expected: at most 1 %, and about 1 %.
  EXPECT_LE(drifts, 6);
  EXPECT_LE(affected, 8);
}

TEST(steadiness, does_not_mistake_drift_for_disturbed_blocks) {
  int affected = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto machine = steadiness_of(simulate({.blocks = 20, .drift = 0.3}, seed));
    affected += machine.affected_blocks.empty() ? 0 : 1;
  }
  EXPECT_LE(affected, 5);
}

TEST(steadiness, depends_only_on_references) {
  auto record = simulate({.blocks = 12}, 1);
  const auto before = steadiness_of(record);
  for (auto& trial : record.trials) {
    if (trial.configuration != 1 || trial.block != 4) continue;
    for (auto& frame : trial.members[0].frames) frame.end += 100'000'000;
  }
  EXPECT_EQ(steadiness_of(record).affected_blocks, before.affected_blocks);
  record.pairs = {{{0, 0}, {1, 0}}};
  EXPECT_EQ(steadiness_of(record).affected_blocks, std::vector<std::size_t>{4});
}

TEST(steadiness, of_one_configuration_alone_is_judged_by_itself) {
  const auto record = simulate({.factors = {1}, .blocks = 12, .throttled_blocks = {7}}, 1);
  EXPECT_EQ(steadiness_of(record).affected_blocks, std::vector<std::size_t>{7});
}

TEST(steadiness, is_unknown_for_few_blocks) {
  const auto record = simulate({.blocks = 4, .throttled_blocks = {2}}, 1);
  EXPECT_TRUE(steadiness_of(record).affected_blocks.empty());
  EXPECT_FALSE(steadiness_of(record).drift);
}

}  // namespace
}  // namespace graphline
