#include "framework/analysis/stats/confidence.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

namespace graphline {
namespace {

TEST(student_t, agrees_with_published_tables) {
  // Two-sided critical values from Abramowitz and Stegun, table 26.10.
  for (const auto& [freedom, level, t] : {std::tuple<std::size_t, double, double>{1, 0.05, 12.706},
                                          {2, 0.05, 4.303},
                                          {3, 0.01, 5.841},
                                          {4, 0.05, 2.776},
                                          {5, 0.001, 6.869},
                                          {9, 0.05, 2.262},
                                          {9, 0.01, 3.250},
                                          {10, 0.001, 4.587},
                                          {29, 0.05, 2.045},
                                          {30, 0.01, 2.750},
                                          {120, 0.05, 1.980}}) {
    EXPECT_NEAR(student_t_critical(level, freedom), t, 6e-4) << freedom << " at " << level;
  }
}

TEST(student_t, approaches_the_normal_distribution) {
  // From scipy.stats.t.isf(0.025, freedom).
  EXPECT_NEAR(student_t_critical(0.05, 201), 1.971836506779859, 1e-13);
  EXPECT_NEAR(student_t_critical(0.05, 1000), 1.9623390808264085, 1e-13);
  for (const double level : {0.05, 1e-3, 1e-5}) {
    EXPECT_NEAR(student_t_critical(level, 10'000'000), normal_critical(level), 1e-5);
  }
}

TEST(normal, has_well_known_critical_values) {
  EXPECT_NEAR(normal_critical(0.05), 1.959964, 1e-6);
  EXPECT_NEAR(normal_critical(0.01), 2.575829, 1e-6);
  EXPECT_NEAR(normal_critical(1e-9), 6.109410, 1e-5);
}

TEST(interval_ranks, are_those_of_the_published_table_for_the_median) {
  // Ranks k and n + 1 - k at 95 %: n = 6: 1; 9: 2; 12: 3; 20: 6; 30: 10; 100: 40.
  for (const auto& [n, k] : {std::pair<std::size_t, std::size_t>{6, 1},
                             {8, 1},
                             {9, 2},
                             {12, 3},
                             {20, 6},
                             {30, 10},
                             {100, 40}}) {
    const auto [low, high] = interval_ranks(0.5, n, n);
    EXPECT_EQ(low, k) << n;
    EXPECT_EQ(high, n + 1 - k) << n;
  }
}

TEST(interval_ranks, of_thousands_of_values_lie_by_the_normal_approximation) {
  const auto [low, high] = interval_ranks(0.5, 10'000, 10'000);
  EXPECT_NEAR(static_cast<double>(low), 5000 - 98, 2);  // 1.96 standard deviations
  EXPECT_NEAR(static_cast<double>(high), 5001 + 98, 2);
}

TEST(interval_ranks, are_zero_for_small_samples) {
  for (const std::size_t n : {0, 1, 5}) {
    EXPECT_EQ(interval_ranks(0.5, n, n).low, 0U) << n;
    EXPECT_EQ(interval_ranks(0.5, n, n).high, 0U) << n;
  }
  EXPECT_GT(interval_ranks(0.99, 300, 300).low, 0U);
  EXPECT_EQ(interval_ranks(0.99, 300, 300).high, 0U);
}

TEST(interval_ranks, scale_with_the_effective_sample_size) {
  const auto [low, high] = interval_ranks(0.5, 12, 30);  // 3 and 10 of 12
  EXPECT_EQ(low, 8U);                                    // 7.5, rounded up
  EXPECT_EQ(high, 25U);
}

}  // namespace
}  // namespace graphline
