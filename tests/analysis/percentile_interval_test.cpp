// Checks the coverage of percentile intervals with processes whose percentiles are known exactly.
// Seeds are fixed, so results are deterministic.

#include "framework/analysis/stats/percentile_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>

#include "framework/analysis/stats/confidence.hpp"
#include "framework/base/random.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using generator = std::mt19937_64;
using times = std::vector<nanoseconds>;
using samples::ms;

nanoseconds in_ms(double value) {
  return std::llround(value * ms);
}

double normal(generator& from) {
  const double radius = std::sqrt(-2 * std::log1p(-uniform_unit(from)));
  return radius * std::cos(2 * std::numbers::pi * uniform_unit(from));
}

std::vector<percentile_interval> intervals_of(const times& in_order,
                                              const std::vector<double>& percentiles) {
  return percentile_intervals(in_order, *distribution::of(in_order), percentiles);
}

percentile_interval interval_of(const times& in_order, double p) {
  return intervals_of(in_order, {p}).at(0);
}

/// Percentage of runs in which the interval of `p` contains `truth`, in ms.
double coverage(const std::function<times(generator&)>& draw, double p, double truth, int runs) {
  int held = 0;
  for (int run = 0; run < runs; ++run) {
    generator from(mix_seed(static_cast<std::uint64_t>(run), 14));
    const auto drawn = draw(from);
    for (const auto& it : intervals_of(drawn, {0.5, 0.95, 0.99})) {
      if (it.p != p) continue;
      held += (!it.low || *it.low <= in_ms(truth)) && (!it.high || *it.high >= in_ms(truth));
    }
  }
  const double percent = 100.0 * held / runs;
  ::testing::Test::RecordProperty("coverage_percent", std::to_string(percent));
  return percent;
}

times independent(generator& from, std::size_t frames) {
  times result;
  for (std::size_t i = 0; i < frames; ++i) {
    result.push_back(in_ms(-std::log1p(-uniform_unit(from))));
  }
  return result;
}

/// A stationary AR(1) process with mean 100 ms and variance 1.
times autoregressive(generator& from, std::size_t frames, double phi) {
  times result;
  double value = normal(from);
  for (std::size_t i = 0; i < frames; ++i) {
    result.push_back(in_ms(100 + value));
    value = phi * value + std::sqrt(1 - phi * phi) * normal(from);
  }
  return result;
}

/// Frames of 10 to 11 ms, one in fifty of 20 to 30 ms during a stall. Stalls last `length` frames
/// on average (a stationary two-state Markov chain).
times stalling(generator& from, std::size_t frames, double length) {
  constexpr double share = 0.02;
  const double ends = 1 / length;
  const double begins = ends * share / (1 - share);
  times result;
  bool stalled = uniform_unit(from) < share;
  for (std::size_t i = 0; i < frames; ++i) {
    const double part = uniform_unit(from);
    result.push_back(in_ms(stalled ? 20 + 10 * part : 10 + part));
    stalled = stalled ? uniform_unit(from) >= ends : uniform_unit(from) < begins;
  }
  return result;
}

constexpr double stalling_p95 = 10 + 0.95 / 0.98;
constexpr double stalling_p99 = 25;  // half of the stalled frames take longer

// At 400 runs, the standard deviation of the percentage is 1.1.
TEST(percentile_interval, holds_the_truth_of_independent_frames) {
  const auto draw = [](generator& from) { return independent(from, 600); };
  EXPECT_GE(coverage(draw, 0.5, std::log(2), 400), 92);
  EXPECT_GE(coverage(draw, 0.95, std::log(20), 400), 92);
  EXPECT_GE(coverage(draw, 0.99, std::log(100), 400), 92);
}

TEST(percentile_interval, is_close_to_binomial_for_independent_frames) {
  // p50 of 1000: ranks 469 and 532, 63 apart.
  double ranks = 0;
  for (std::uint64_t run = 0; run < 100; ++run) {
    generator from(run);
    const auto drawn = independent(from, 1000);
    const auto it = interval_of(drawn, 0.5);
    ranks += static_cast<double>(std::count_if(
        drawn.begin(), drawn.end(), [&](nanoseconds t) { return *it.low < t && t <= *it.high; }));
  }
  EXPECT_NEAR(ranks / 100, 63, 6);
}

TEST(percentile_interval, holds_the_truth_of_frames_that_depend_on_those_before) {
  for (const double phi : {0.5, 0.8}) {
    const auto draw = [&](generator& from) { return autoregressive(from, 600, phi); };
    EXPECT_GE(coverage(draw, 0.5, 100, 400), 90) << phi;
    EXPECT_GE(coverage(draw, 0.95, 101.6449, 400), 90) << phi;
    EXPECT_GE(coverage(draw, 0.99, 102.3263, 400), 88) << phi;
  }
  const auto slowly = [&](generator& from) { return autoregressive(from, 2000, 0.95); };
  EXPECT_GE(coverage(slowly, 0.5, 100, 200), 90);
  EXPECT_GE(coverage(slowly, 0.95, 101.6449, 200), 88);
}

TEST(percentile_interval, holds_the_truth_of_frames_that_stall_together) {
  const auto draw = [](generator& from) { return stalling(from, 3000, 5); };
  EXPECT_GE(coverage(draw, 0.5, 10 + 0.5 / 0.98, 300), 92);
  EXPECT_GE(coverage(draw, 0.95, stalling_p95, 300), 88);
  EXPECT_GE(coverage(draw, 0.99, stalling_p99, 300), 88);
}

TEST(percentile_interval, of_six_stalls_in_600_frames_shows_that_p99_is_not_known) {
  for (const bool together : {false, true}) {
    times drawn;
    for (int i = 0; i < 600; ++i) {
      const bool stalled = together ? i >= 300 && i < 306 : i % 100 == 37;
      drawn.push_back(in_ms(stalled ? 40 : 10 + i % 7 * 0.01));
    }
    const auto p99 = interval_of(drawn, 0.99);
    ASSERT_LT(*distribution::of(drawn)->percentile(0.99), in_ms(11));
    EXPECT_TRUE(!p99.high || *p99.high == in_ms(40)) << together;
    const auto p50 = interval_of(drawn, 0.5);
    EXPECT_LT(p50.high.value(), in_ms(11)) << together;
  }
}

TEST(percentile_interval, has_no_upper_end_for_too_few_frames) {
  // The maximum of n frames lies below p99 with probability 0.99^n, which is 2.5 % for 368 frames.
  generator from(3);
  const auto drawn = independent(from, 300);
  EXPECT_TRUE(interval_of(drawn, 0.99).low);
  EXPECT_FALSE(interval_of(drawn, 0.99).high);
  EXPECT_TRUE(intervals_of(times(drawn.begin(), drawn.begin() + 58), {0.95, 0.99}).empty());
}

TEST(percentile_interval, matches_a_calculation_by_hand) {
  // Block length 1. Student's t with 8 degrees of freedom over the normal value is 2.306 / 1.960,
  // so nine frames are worth 9 / 1.384 = 6.5, rounded down to 6: the interval spans the first to
  // the last of six, each worth 1.5 frames.
  const auto it = interval_of({30, 90, 10, 70, 50, 20, 80, 40, 60}, 0.5);
  EXPECT_EQ(it.low, 20);
  EXPECT_EQ(it.high, 90);
}

TEST(percentile_interval, is_a_point_for_equal_times) {
  const auto p95 = interval_of(times(1000, 7), 0.95);
  EXPECT_EQ(p95.low, 7);
  EXPECT_EQ(p95.high, 7);
}

// The optimal length for AR(1) is (1.5 (2 phi / (1 - phi^2))^2 n)^(1/3), from the sums of |k|
// phi^|k| and of phi^|k| over all k.
TEST(block_length, is_near_optimal_for_an_autoregressive_process) {
  for (const double phi : {0.3, 0.6, 0.8}) {
    constexpr std::size_t frames = 4000;
    std::vector<double> lengths;
    for (std::uint64_t run = 0; run < 41; ++run) {
      generator from(run);
      const auto drawn = autoregressive(from, frames, phi);
      lengths.push_back(automatic_block_length(std::vector<double>(drawn.begin(), drawn.end())));
    }
    std::sort(lengths.begin(), lengths.end());
    const double slope = 2 * phi / (1 - phi * phi);
    const double best = std::cbrt(1.5 * slope * slope * frames);
    EXPECT_NEAR(lengths[20] / best, 1, 0.25) << phi;
  }
}

// Groups of ten values, whose dependence reaches about five groups.
TEST(block_length, is_near_optimal_in_a_long_run) {
  constexpr double phi = 0.98;
  constexpr std::size_t frames = 1'000'000;
  std::vector<double> lengths;
  for (std::uint64_t run = 0; run < 5; ++run) {
    generator from(run);
    const auto drawn = autoregressive(from, frames, phi);
    lengths.push_back(automatic_block_length(std::vector<double>(drawn.begin(), drawn.end())));
  }
  std::sort(lengths.begin(), lengths.end());
  const double slope = 2 * phi / (1 - phi * phi);
  EXPECT_NEAR(lengths[2] / std::cbrt(1.5 * slope * slope * frames), 1, 0.25);
}

// For e(t) - 0.5 e(t - 2) the sums are -2 and 0.25: each value depends only on the one two before
// it.
TEST(block_length, is_near_optimal_for_negative_dependence) {
  constexpr std::size_t frames = 4000;
  std::vector<double> lengths;
  for (std::uint64_t run = 0; run < 41; ++run) {
    generator from(run);
    std::vector<double> drawn;
    for (std::size_t i = 0; i < frames + 2; ++i) drawn.push_back(normal(from));
    std::vector<double> values;
    for (std::size_t i = 0; i < frames; ++i) values.push_back(drawn[i + 2] - 0.5 * drawn[i]);
    lengths.push_back(automatic_block_length(values));
  }
  std::sort(lengths.begin(), lengths.end());
  EXPECT_NEAR(lengths[20] / std::cbrt(1.5 * 64 * frames), 1, 0.25);
}

TEST(block_length, is_short_for_independent_values_and_one_for_none) {
  generator from(1);
  std::vector<double> lengths;
  for (int run = 0; run < 41; ++run) {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) values.push_back(normal(from));
    lengths.push_back(automatic_block_length(values));
  }
  std::sort(lengths.begin(), lengths.end());
  EXPECT_LT(lengths[20], 4);
  EXPECT_EQ(automatic_block_length({}), 1);
  EXPECT_EQ(automatic_block_length(std::vector<double>(50, 3.0)), 1);
}

}  // namespace
}  // namespace graphline
