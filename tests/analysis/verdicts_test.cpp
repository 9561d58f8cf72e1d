#include "framework/analysis/experiment/comparisons.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace graphline {
namespace {

TEST(verdict, follows_from_where_the_interval_lies) {
  EXPECT_EQ(verdict_of({1.03, 1.07}, 0.01, false), verdict::slower);
  EXPECT_EQ(verdict_of({0.93, 0.97}, 0.01, false), verdict::faster);
  EXPECT_EQ(verdict_of({0.995, 1.005}, 0.01, false), verdict::same);
  EXPECT_EQ(verdict_of({0.98, 1.005}, 0.01, false), verdict::inconclusive);
}

TEST(verdict, of_throughput_calls_more_faster) {
  EXPECT_EQ(verdict_of({1.03, 1.07}, 0.01, true), verdict::faster);
  EXPECT_EQ(verdict_of({0.93, 0.97}, 0.01, true), verdict::slower);
}

TEST(verdict, is_same_for_a_significant_difference_within_the_margin) {
  EXPECT_EQ(verdict_of({1.002, 1.004}, 0.01, false), verdict::same);
  EXPECT_EQ(verdict_of({1.002, 1.004}, 0.001, false), verdict::slower);
  EXPECT_EQ(verdict_of({1, 1}, 0, false), verdict::same);
}

TEST(blocks_to_decide, grow_with_the_square_of_the_required_precision) {
  // A difference of 5 % with a standard error of 5 %, which must shrink to 5 % / (t + 0.84).
  const auto more = blocks_to_decide({0.05, 0.05, 0.05, 0.01}, 10);
  ASSERT_TRUE(more);
  EXPECT_NEAR(static_cast<double>(10 + *more), 10 * 2.83 * 2.83, 2);
  const auto twice = blocks_to_decide({0.05, 0.10, 0.05, 0.01}, 10);
  ASSERT_TRUE(twice);
  EXPECT_NEAR(static_cast<double>(10 + *twice), 4 * 10 * 2.80 * 2.80, 4);
}

TEST(blocks_to_decide, are_those_of_the_nearer_verdict) {
  // No observed difference: the verdict `same` within 5 % is near, a difference is out of reach.
  const auto same = blocks_to_decide({0, 0.03, 0.05, 0.05}, 10);
  ASSERT_TRUE(same);
  EXPECT_LT(*same, 30);
  // With a margin of 0.1 %, both are out of reach.
  EXPECT_FALSE(blocks_to_decide({0, 0.1, 0.05, 0.001}, 10));
}

TEST(blocks_to_decide, are_at_least_one) {
  EXPECT_EQ(blocks_to_decide({0.05, 0.001, 0.05, 0.01}, 10), 1);
}

}  // namespace
}  // namespace graphline
