#include "framework/analysis/stats/running_percentiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

TEST(running_percentiles, come_within_a_fifth_of_a_percent_of_those_of_the_whole_sample) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> time(std::log(2e6), 2);
  running_percentiles running;
  std::vector<nanoseconds> sample;
  for (int i = 0; i < 20'000; ++i) {
    sample.push_back(static_cast<nanoseconds>(time(random)));
    running.add(sample.back());
  }
  const auto whole = *distribution::of(sample);
  EXPECT_EQ(running.count(), whole.count());
  EXPECT_EQ(running.max(), whole.max());
  for (const double p : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(*whole.percentile(p));
    EXPECT_NEAR(static_cast<double>(*running.percentile(p)), exact, 0.002 * exact + 1) << p;
  }
}

TEST(running_percentiles, are_exact_below_five_hundred_nanoseconds) {
  running_percentiles running;
  for (nanoseconds i = 1; i <= 500; ++i) running.add(i);
  EXPECT_EQ(running.percentile(0.5), 250);
  EXPECT_EQ(running.percentile(0.9), 450);
}

TEST(running_percentiles, say_nothing_of_what_so_few_values_do_not_carry) {
  running_percentiles running;
  EXPECT_FALSE(running.max());
  EXPECT_FALSE(running.percentile(0.5));
  for (std::size_t i = 1; i < samples_needed(0.9); ++i) running.add(1000);
  EXPECT_TRUE(running.percentile(0.5));
  EXPECT_FALSE(running.percentile(0.9));
  running.add(1000);
  EXPECT_EQ(running.percentile(0.9), 1000);
}

TEST(running_percentiles, take_whatever_a_clock_may_say) {
  running_percentiles running;
  for (int i = 0; i < 5; ++i) {
    running.add(-5);
    running.add(0);
    running.add(std::numeric_limits<nanoseconds>::max());
  }
  EXPECT_EQ(running.percentile(0.5), 0);
  EXPECT_EQ(running.max(), std::numeric_limits<nanoseconds>::max());
}

}  // namespace
}  // namespace graphline
