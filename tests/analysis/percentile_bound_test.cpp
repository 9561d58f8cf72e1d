#include "framework/analysis/stats/percentile_bound.hpp"

#include <gtest/gtest.h>

#include <random>

#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// Times of 5 with `late` times of 20 spread evenly among them; the bound is 10.
std::vector<nanoseconds> mixed(std::size_t frames, std::size_t late) {
  std::vector<nanoseconds> times;
  for (std::size_t i = 0; i < frames; ++i) {
    times.push_back((i + 1) * late / frames > i * late / frames ? 20 : 5);
  }
  return times;
}

bound_verdict verdict_of(std::size_t frames, std::size_t late, double p) {
  return check_bound({mixed(frames, late)}, p, 10).verdict;
}

TEST(percentile_bound, holds_with_no_late_frame_only_from_enough_frames_on) {
  EXPECT_EQ(frames_to_hold(0.5), 6U);
  EXPECT_EQ(frames_to_hold(0.9), 36U);
  EXPECT_EQ(frames_to_hold(0.95), 72U);
  EXPECT_EQ(frames_to_hold(0.99), 368U);
  EXPECT_EQ(frames_to_hold(0.999), 3688U);
  for (const double p : {0.5, 0.9, 0.95, 0.99, 0.999}) {
    EXPECT_EQ(verdict_of(frames_to_hold(p), 0, p), bound_verdict::holds) << p;
    EXPECT_EQ(verdict_of(frames_to_hold(p) - 1, 0, p), bound_verdict::open) << p;
  }
}

TEST(percentile_bound, is_judged_by_how_many_frames_are_late) {
  EXPECT_EQ(verdict_of(200, 3, 0.95), bound_verdict::holds);
  EXPECT_EQ(verdict_of(200, 10, 0.95), bound_verdict::open);
  EXPECT_EQ(verdict_of(200, 18, 0.95), bound_verdict::fails);
  EXPECT_EQ(check_bound({}, 0.95, 10).verdict, bound_verdict::open);
}

TEST(percentile_bound, has_the_interval_of_the_tables) {
  // p50 of 1 to 100 ns: Conover's table gives ranks 40 and 61.
  std::vector<std::vector<nanoseconds>> runs;
  for (nanoseconds t = 1; t <= 100; ++t) runs.push_back({t});
  const auto check = check_bound(runs, 0.5, 1000);
  EXPECT_EQ(check.low, 40);
  EXPECT_EQ(check.high, 61);
  EXPECT_EQ(check.p50, 50);
  EXPECT_EQ(check.verdict, bound_verdict::holds);
  EXPECT_EQ(check_bound(runs, 0.5, 60).verdict, bound_verdict::open);
  EXPECT_EQ(check_bound(runs, 0.5, 39).verdict, bound_verdict::fails);
}

TEST(percentile_bound, interval_holds_the_true_percentile_about_as_often_as_it_says) {
  std::mt19937_64 generator(1);
  int inside = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<nanoseconds> times;
    for (int i = 0; i < 500; ++i) {
      times.push_back(static_cast<nanoseconds>(1e6 * uniform_unit(generator)));
    }
    const auto check = check_bound({times}, 0.9, 900'000);
    ASSERT_TRUE(check.low && check.high);
    if (*check.low <= 900'000 && 900'000 <= *check.high) ++inside;
  }
  EXPECT_GE(inside, 375);
}

TEST(percentile_bound, counts_frames_that_are_late_together_as_fewer) {
  auto together = mixed(400, 0);
  for (std::size_t i = 100; i < 130; ++i) together[i] = 20;
  const auto apart = check_bound({mixed(400, 30)}, 0.95, 10);
  const auto check = check_bound({together}, 0.95, 10);
  EXPECT_EQ(apart.verdict, bound_verdict::fails);
  EXPECT_EQ(check.verdict, bound_verdict::open);
  EXPECT_GT(check.clustering, 5);
  EXPECT_EQ(check.late, apart.late);
}

TEST(percentile_bound, has_no_value_where_frames_never_ended) {
  std::vector<nanoseconds> times = mixed(100, 0);
  for (std::size_t i = 0; i < 100; i += 5) times[i] = never;
  const auto check = check_bound({times}, 0.9, 10);
  EXPECT_EQ(check.p50, 5);
  EXPECT_FALSE(check.value);
  EXPECT_FALSE(check.high);
  EXPECT_EQ(check.late, 20U);
  EXPECT_EQ(check_bound({std::vector<nanoseconds>(100, never)}, 0.9, 10).verdict,
            bound_verdict::fails);
}

}  // namespace
}  // namespace graphline
