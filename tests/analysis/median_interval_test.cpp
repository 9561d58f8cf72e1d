#include "framework/analysis/stats/median_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// In how many of 2000 experiments with `blocks` values of median 12 the interval holds it. The
/// values are log-normal: strongly skewed, as times that other programs lengthen are.
int coverage(std::size_t blocks) {
  constexpr double truth = 12;
  std::mt19937_64 generator(20'26);
  int hits = 0;
  for (int experiment = 0; experiment < 2000; ++experiment) {
    std::vector<double> differences(blocks);
    for (double& d : differences) {
      // A logistic variable has median 0, and so has exp of it minus 1.
      const double u = uniform_unit(generator);
      d = truth + std::expm1(std::log(u / (1 - u)));
    }
    hits += median_interval(differences)->contains(truth) ? 1 : 0;
  }
  return hits;
}

// The exact coverage for n values is 1 - 2 P(Binomial(n, 1/2) < k): 96.9 % for 6, 97.9 % for 10,
// 95.7 % for 30. The count of hits has a standard deviation of at most 10; the band is 3 of them.
TEST(median_interval, holds_the_truth_as_often_as_the_sign_test_says) {
  EXPECT_NEAR(coverage(6), 1938, 30);
  EXPECT_NEAR(coverage(10), 1957, 30);
  EXPECT_NEAR(coverage(30), 1914, 30);
}

TEST(median_interval, takes_the_ranks_of_the_published_table) {
  // Ranks k and n + 1 - k at 95 %: n = 6: 1; 9: 2; 12: 3; 20: 6; 30: 10; 100: 40.
  for (const auto& [n, k] : {std::pair<std::size_t, std::size_t>{6, 1},
                             {8, 1},
                             {9, 2},
                             {12, 3},
                             {20, 6},
                             {30, 10},
                             {100, 40}}) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i + 1);
    const auto range = median_interval(values);
    ASSERT_TRUE(range) << n;
    EXPECT_EQ(range->low, static_cast<double>(k)) << n;
    EXPECT_EQ(range->high, static_cast<double>(n + 1 - k)) << n;
  }
}

TEST(median_interval, is_absent_below_six_values) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(median_interval, does_not_follow_a_trial_that_was_held_up) {
  std::vector<double> values = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  const auto calm = *median_interval(values);
  values[5] = 1e12;
  const auto disturbed = *median_interval(values);
  EXPECT_EQ(disturbed.low, calm.low);
  EXPECT_EQ(disturbed.high, calm.high);
}

TEST(median_interval, stays_finite_for_thousands_of_values) {
  std::vector<double> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const auto range = *median_interval(values);
  EXPECT_NEAR(range.low, 5000 - 98, 2);  // half of 1.96 standard deviations of the binomial
  EXPECT_NEAR(range.high, 5000 + 98, 2);
}

TEST(median, is_the_middle_or_the_mean_of_the_middle_two) {
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(median_of({9, 1, 5, 7}), 6);
}

}  // namespace
}  // namespace graphline
