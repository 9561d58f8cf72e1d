#include "framework/analysis/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "framework/analysis/distribution.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// Standard normals by Box and Muller, the same on every machine.
class normals {
 public:
  explicit normals(std::uint64_t seed) : seed_(seed) {}
  double next() {
    const double u = uniform();
    const double v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  double uniform() {
    return (static_cast<double>(mix_seed(seed_, ++draws_) >> 11) + 0.5) * 0x1p-53;
  }

  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
};

/// In how many of 1000 experiments with `blocks` values of known mean the interval holds the mean.
int coverage(std::size_t blocks) {
  constexpr double truth = 12;
  constexpr std::size_t resamples = 2000;
  normals noise(20'26);
  int hits = 0;
  for (std::uint64_t experiment = 0; experiment < 1000; ++experiment) {
    std::vector<double> differences(blocks);
    for (double& d : differences) d = truth + 30 * noise.next();
    hits += mean_interval(differences, experiment, resamples)->contains(truth) ? 1 : 0;
  }
  return hits;
}

// The count of hits is binomial: at 95 % its standard deviation over 1000 is 7, the band 3 of them.
// The plain percentile bootstrap would reach 840, 877 and 900 and fail each.
constexpr int least_hits = 929;
constexpr int most_hits = 971;

TEST(mean_interval, of_five_blocks_holds_the_truth_as_often_as_it_says) {
  const int hits = coverage(5);
  EXPECT_GE(hits, least_hits);
  EXPECT_LE(hits, most_hits);
}

TEST(mean_interval, of_eight_blocks_holds_the_truth_as_often_as_it_says) {
  const int hits = coverage(8);
  EXPECT_GE(hits, least_hits);
  EXPECT_LE(hits, most_hits);
}

TEST(mean_interval, of_ten_blocks_holds_the_truth_as_often_as_it_says) {
  const int hits = coverage(10);
  EXPECT_GE(hits, least_hits);
  EXPECT_LE(hits, most_hits);
}

TEST(mean_interval, is_near_the_t_interval_for_many_normal_values) {
  normals noise(3);
  std::vector<double> values(60);
  for (double& v : values) v = noise.next();
  const double half = 2.001 * *stddev_of(values) / std::sqrt(60.0);  // t at 0.975, 59 degrees
  const auto range = *mean_interval(values);
  EXPECT_NEAR(range.low, mean_of(values) - half, 0.15 * half);
  EXPECT_NEAR(range.high, mean_of(values) + half, 0.15 * half);
}

TEST(mean_interval, is_absent_below_four_values) {
  const double values[] = {1, 2, 4, 8};
  EXPECT_FALSE(mean_interval({}));
  EXPECT_FALSE(mean_interval(std::span(values).first(3)));
  const auto range = mean_interval(values);
  ASSERT_TRUE(range);
  EXPECT_LT(range->low, mean_of(values));
  EXPECT_GT(range->high, mean_of(values));
}

TEST(mean_interval, is_the_same_for_the_same_seed_and_another_for_another) {
  const double values[] = {1, 2.2, 4.1, 8.7, 16.3, 17.9, 23.6, 31.4};
  EXPECT_EQ(mean_interval(values, 1)->high, mean_interval(values, 1)->high);
  EXPECT_NE(mean_interval(values, 1, 500)->high, mean_interval(values, 2, 500)->high);
}

TEST(mean_interval, moves_and_grows_with_its_values) {
  const double values[] = {1, 2, 4, 8, 16};
  const double changed[] = {1010, 1020, 1040, 1080, 1160};
  EXPECT_NEAR(mean_interval(changed)->low, 1000 + 10 * mean_interval(values)->low, 1e-9);
  EXPECT_NEAR(mean_interval(changed)->high, 1000 + 10 * mean_interval(values)->high, 1e-9);
}

TEST(mean_interval, of_equal_values_is_that_value) {
  const double values[] = {5, 5, 5, 5};
  EXPECT_EQ(mean_interval(values)->low, 5);
  EXPECT_EQ(mean_interval(values)->high, 5);
}

TEST(mean_interval, reaches_further_on_the_side_of_the_long_tail) {
  const double values[] = {1, 1.5, 2, 2.5, 3, 20};
  const auto range = *mean_interval(values);
  EXPECT_GT(range.high - mean_of(values), mean_of(values) - range.low);
}

}  // namespace
}  // namespace graphline
