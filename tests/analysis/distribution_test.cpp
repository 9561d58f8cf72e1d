#include "framework/analysis/stats/distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace graphline {
namespace {

distribution one_to(std::size_t n) {
  std::vector<nanoseconds> sample(n);
  std::iota(sample.rbegin(), sample.rend(), 1);
  return *distribution::of(std::move(sample));
}

TEST(distribution, is_empty_for_an_empty_sample) {
  EXPECT_FALSE(distribution::of({}));
}

TEST(distribution, of_one_value_has_no_spread_and_no_percentile) {
  const auto one = *distribution::of({7});
  EXPECT_EQ(one.count(), 1u);
  EXPECT_EQ(one.mean(), 7);
  EXPECT_EQ(one.min(), 7);
  EXPECT_EQ(one.max(), 7);
  EXPECT_EQ(one.median(), 7);
  EXPECT_FALSE(one.stddev());
  EXPECT_FALSE(one.percentile(0.5));
}

TEST(distribution, divides_the_squares_by_one_less_than_the_count) {
  const auto d = *distribution::of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(d.mean(), 5);
  EXPECT_DOUBLE_EQ(*d.stddev(), std::sqrt(32.0 / 7));
}

TEST(distribution, keeps_the_last_digits_of_large_values) {
  const nanoseconds base = 9'000'000'000'000'000;
  const auto d = *distribution::of({base + 1, base + 2, base + 3});
  EXPECT_DOUBLE_EQ(*d.stddev(), 1);
  EXPECT_EQ(d.mean(), static_cast<double>(base + 2));
}

TEST(distribution, takes_the_nearest_rank) {
  const auto d = one_to(300);
  EXPECT_EQ(d.percentile(0.5), 150);
  EXPECT_EQ(d.percentile(0.9), 270);
  EXPECT_EQ(d.percentile(0.95), 285);
  EXPECT_EQ(d.percentile(0.99), 297);
}

TEST(distribution, does_not_let_binary_fractions_shift_a_rank) {
  // 0.07 * 100 is 7.000000000000001 and 0.29 * 100 is 28.999999999999996 as doubles.
  EXPECT_EQ(one_to(100).percentile(0.07), 7);
  EXPECT_EQ(one_to(100).percentile(0.29), 29);
}

TEST(distribution, needs_as_many_samples_as_tolerance_limits_do) {
  // Wilks, one-sided 95 % confidence; the well-known value is 59 for p95.
  EXPECT_EQ(samples_needed(0.5), 5u);
  EXPECT_EQ(samples_needed(0.9), 29u);
  EXPECT_EQ(samples_needed(0.95), 59u);
  EXPECT_EQ(samples_needed(0.99), 299u);
  EXPECT_EQ(samples_needed(0.999), 2995u);
}

TEST(distribution, has_no_percentile_below_the_needed_sample_size) {
  EXPECT_TRUE(one_to(45).percentile(0.9));
  EXPECT_FALSE(one_to(45).percentile(0.95));
  EXPECT_FALSE(one_to(45).percentile(0.99));
  EXPECT_FALSE(one_to(58).percentile(0.95));
  EXPECT_EQ(one_to(59).percentile(0.95), 57);
  EXPECT_FALSE(p50_of(std::nullopt));
  EXPECT_FALSE(p50_of(one_to(4)));
  EXPECT_EQ(p50_of(one_to(5)), 3.0);
}

TEST(distribution, has_a_lower_median_for_even_counts) {
  EXPECT_EQ(one_to(4).median(), 2);
}

TEST(median, is_the_middle_value_or_the_mean_of_two) {
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(median_of({9, 1, 5, 7}), 6);
}

TEST(percentile_name, has_the_digits_that_the_percentile_needs) {
  EXPECT_EQ(percentile_name(0.95), "p95");
  EXPECT_EQ(percentile_name(0.999), "p99.9");
}

TEST(distribution, gives_mean_and_spread_of_fractions) {
  const double values[] = {0.5, 1.5, 2.5};
  EXPECT_DOUBLE_EQ(mean_of(values), 1.5);
  EXPECT_DOUBLE_EQ(*stddev_of(values), 1);
  EXPECT_FALSE(stddev_of(std::span(values).first(1)));
}

}  // namespace
}  // namespace graphline
