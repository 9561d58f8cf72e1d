#include "framework/analysis/stats/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace graphline {
namespace {

std::vector<nanoseconds> normal(std::size_t n, double mean, double spread) {
  std::mt19937_64 generator(n);
  std::normal_distribution<double> draw(mean, spread);
  std::vector<nanoseconds> sample(n);
  for (auto& time : sample) time = std::llround(draw(generator));
  return sample;
}

std::size_t all_of(const histogram& h) {
  return std::accumulate(h.counts.begin(), h.counts.end(), h.below + h.beyond);
}

TEST(histogram, is_empty_for_an_empty_sample) {
  EXPECT_FALSE(histogram_of({}));
}

TEST(histogram, has_one_bin_with_readable_edges_for_equal_values) {
  for (const std::size_t n : {1u, 2u, 1000u}) {
    const auto h = *histogram_of(std::vector<nanoseconds>(n, 74'123'456));
    EXPECT_EQ(h.counts, std::vector<std::size_t>{n});
    EXPECT_EQ(h.begin, 74'000'000);
    EXPECT_EQ(h.width, 500'000);
  }
  EXPECT_EQ(histogram_of({0})->width, 1);
}

TEST(histogram, counts_each_value_in_its_bin) {
  const auto h = *histogram_of({10, 11, 12, 12, 13, 19, 19, 19, 20, 29});
  for (std::size_t bin = 0; bin < h.counts.size(); ++bin) {
    std::size_t within = 0;
    for (const nanoseconds time : {10, 11, 12, 12, 13, 19, 19, 19, 20, 29}) {
      within += time >= h.begin_of(bin) && time < h.begin_of(bin) + h.width;
    }
    EXPECT_EQ(h.counts[bin], within) << bin;
  }
  EXPECT_EQ(all_of(h), 10u);
}

TEST(histogram, has_a_round_width_near_that_of_freedman_and_diaconis) {
  // Interquartile range of a normal distribution: 1.349 sigma. 2 * 1.349e6 / 10 = 269,800.
  const auto h = *histogram_of(normal(1000, 5e7, 1e6));
  EXPECT_EQ(h.width, 200'000);
  EXPECT_EQ(h.begin % h.width, 0);
}

TEST(histogram, has_no_more_bins_than_asked_for) {
  for (const std::size_t most : {4u, 10u, 24u, 80u}) {
    for (const std::size_t n : {2u, 45u, 1000u, 100'000u}) {
      const auto h = *histogram_of(normal(n, 5e7, 1e6), most);
      EXPECT_LE(h.counts.size(), most) << n;
      EXPECT_EQ(all_of(h), n);
    }
  }
}

TEST(histogram, cuts_off_and_counts_outliers) {
  auto sample = normal(1000, 5e7, 1e6);
  sample[17] = 9'000'000'000;
  sample[18] = 1000;
  const auto h = *histogram_of(sample);
  EXPECT_EQ(h.beyond, 1u);
  EXPECT_EQ(h.below, 1u);
  EXPECT_LT(h.end(), 60'000'000);
  EXPECT_GE(h.counts.size(), 20u);
  EXPECT_EQ(all_of(h), 1000u);
}

TEST(histogram, separates_two_modes) {
  auto sample = normal(900, 5e7, 1e5);
  const auto slower = normal(300, 8e7, 1e5);
  sample.insert(sample.end(), slower.begin(), slower.end());
  const auto h = *histogram_of(sample);
  EXPECT_EQ(h.below + h.beyond, 0u);
  EXPECT_TRUE(std::count(h.counts.begin(), h.counts.end(), 0u) > 0);
}

TEST(histogram, accepts_negative_times) {
  const auto h = *histogram_of({-7, -1, 0, 3, 8});
  EXPECT_LE(h.begin, -7);
  EXPECT_EQ(all_of(h), 5u);
  EXPECT_EQ(h.below + h.beyond, 0u);
}

TEST(histogram, counts_another_sample_in_the_same_bins) {
  const auto first = *histogram_of({100, 110, 120, 130, 140, 150, 160, 170, 180, 190});
  const std::vector<nanoseconds> sample = {first.begin - 1, first.begin, first.begin,
                                           first.end() - 1, first.end(), first.end() + 5};
  const auto second = counted_like(first, sample);
  EXPECT_EQ(second.begin, first.begin);
  EXPECT_EQ(second.width, first.width);
  ASSERT_EQ(second.counts.size(), first.counts.size());
  EXPECT_EQ(second.counts.front(), 2U);
  EXPECT_EQ(second.counts.back(), 1U);
  EXPECT_EQ(second.below, 1U);
  EXPECT_EQ(second.beyond, 2U);
  EXPECT_EQ(all_of(second), sample.size());
}

}  // namespace
}  // namespace graphline
