#include "framework/analysis/experiment/resampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

using sample = std::vector<std::vector<nanoseconds>>;

/// Blocks of irregular sizes and levels.
sample blocks_of(std::size_t count, std::size_t durations) {
  std::mt19937_64 random(7);
  sample blocks(count);
  for (auto& block : blocks) {
    const double level = 1e6 * (1 + 0.1 * uniform_unit(random));
    const std::size_t size = durations / 2 + random() % durations;
    for (std::size_t i = 0; i < size; ++i) {
      block.push_back(std::llround(level * (1 + 0.2 * uniform_unit(random))));
    }
  }
  return blocks;
}

/// Percentile of a draw by definition, from all durations drawn.
double by_definition(const sample& blocks, double p, std::span<const std::uint16_t> drawn) {
  std::vector<nanoseconds> all;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (int i = 0; i < drawn[b]; ++i) all.insert(all.end(), blocks[b].begin(), blocks[b].end());
  }
  std::sort(all.begin(), all.end());
  return static_cast<double>(all[rank_of(p, all.size())]);
}

TEST(block_draws, take_as_many_blocks_as_there_are_and_each_equally_often) {
  const block_draws draws(8, 4000, 1);
  ASSERT_EQ(draws.count(), 4000u);
  std::vector<int> taken(8);
  for (std::size_t i = 0; i < draws.count(); ++i) {
    EXPECT_EQ(std::accumulate(draws[i].begin(), draws[i].end(), 0), 8);
    for (std::size_t b = 0; b < 8; ++b) taken[b] += draws[i][b];
  }
  // 4000 expected for each, with a standard deviation of 59.
  for (const int times : taken) EXPECT_NEAR(times, 4000, 240);
}

TEST(block_draws, are_the_same_for_the_same_seed_only) {
  const block_draws a(10, 5, 1);
  const block_draws b(10, 5, 1);
  const block_draws c(10, 5, 2);
  EXPECT_TRUE(std::equal(a[4].begin(), a[4].end(), b[4].begin()));
  EXPECT_FALSE(std::equal(a[4].begin(), a[4].end(), c[4].begin()));
}

TEST(resampled_percentile, is_exact_for_a_small_sample) {
  const auto blocks = blocks_of(6, 5);
  const block_draws draws(6, 200, 3);
  for (const double p : {0.5, 0.9}) {
    const auto figure = resample_percentile(pooled_times(blocks), p, draws);
    for (std::size_t i = 0; i < draws.count(); ++i) {
      ASSERT_EQ(figure.draws[i], by_definition(blocks, p, draws[i])) << p << " draw " << i;
    }
  }
}

/// Identically distributed blocks with a long tail: draws differ only by chance.
sample blocks_alike(std::size_t count, std::size_t durations) {
  std::mt19937_64 random(7);
  sample blocks(count, std::vector<nanoseconds>(durations));
  for (auto& block : blocks) {
    for (auto& time : block) time = std::llround(-1e6 * std::log1p(-uniform_unit(random)));
  }
  return blocks;
}

void expect_near_definition(const sample& blocks) {
  const block_draws draws(12, 100, 3);
  for (const double p : {0.5, 0.95, 0.999}) {
    const auto figure = resample_percentile(pooled_times(blocks), p, draws);
    std::vector<double> exact;
    for (std::size_t i = 0; i < draws.count(); ++i) {
      exact.push_back(by_definition(blocks, p, draws[i]));
    }
    const double spread = *stddev_of(exact);
    for (std::size_t i = 0; i < draws.count(); ++i) {
      ASSERT_NEAR(figure.draws[i], exact[i], 0.2 * spread) << p << " draw " << i;
    }
    EXPECT_NEAR(*stddev_of(figure.draws) / spread, 1, 0.05) << p;
  }
}

TEST(resampled_percentile, is_accurate_for_a_large_sample) {
  expect_near_definition(blocks_of(12, 15'000));  // more than the candidates
  expect_near_definition(blocks_alike(12, 15'000));
}

TEST(pooled_times, have_the_percentiles_of_all_blocks_together) {
  for (const auto& blocks : {blocks_of(5, 3), blocks_of(40, 900), sample{{}, {7, 7, 7}, {9}}}) {
    std::vector<nanoseconds> all;
    for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
    std::sort(all.begin(), all.end());
    const pooled_times pooled(blocks);
    for (const double p : {0.01, 0.5, 0.95, 0.999}) {
      const auto found = resample_percentile(pooled, p, block_draws(blocks.size(), 0, 1)).value;
      EXPECT_EQ(found, all[rank_of(p, all.size())]) << p << " of " << all.size();
    }
    EXPECT_EQ(pooled.sorted(), all);
  }
}

/// Resampled mean of one normal value around 100 per block.
resampled_figure mean_figure(std::uint64_t seed, const block_draws& draws, std::size_t blocks) {
  normal_generator random;
  random.seed(seed);
  std::vector<double> values(blocks);
  random.fill(values);
  for (double& value : values) value = 100 + value;
  return resample_ratio(values, std::vector<double>(blocks, 1.0), draws);
}

TEST(contrast, has_the_standard_error_of_a_mean) {
  const std::size_t blocks = 12;
  const block_draws draws(blocks, 20'000, 5);
  normal_generator random;
  random.seed(3);
  std::vector<double> values(blocks);
  random.fill(values);
  for (double& value : values) value = 100 + value;
  const std::vector<double> ones(blocks, 1.0);
  const auto by =
      contrast::of(resample_ratio(values, ones, draws), resample_ratio(ones, ones, draws), blocks);
  ASSERT_TRUE(by);
  const double error = *stddev_of(values) / std::sqrt(static_cast<double>(blocks));
  const auto range = by->difference_range(1);
  EXPECT_NEAR((range.high - range.low) / 2 / error, 1, 0.03);
  EXPECT_NEAR(by->error() / (error / 100), 1, 0.03);
}

TEST(contrast, has_a_point_interval_without_variation) {
  const block_draws draws(6, 100, 1);
  const std::vector<double> ones(6, 1.0);
  const auto figure = resample_ratio(ones, ones, draws);
  const auto by = contrast::of(figure, figure, 6);
  ASSERT_TRUE(by);
  EXPECT_TRUE(by->deviations().empty());
  EXPECT_EQ(by->ratio_range(3).low, by->ratio_range(3).high);
}

TEST(contrast, does_not_exist_where_a_value_is_zero) {
  const resampled_figure zero{0, {0, 0}};
  const resampled_figure one{1, {1, 1}};
  EXPECT_FALSE(contrast::of(zero, one, 5));
  EXPECT_FALSE(contrast::of(one, zero, 5));
}

TEST(common_level, depends_on_the_correlation_of_contrasts) {
  const std::size_t blocks = 30;
  const block_draws draws(blocks, 4000, 9);
  const std::vector<double> ones(blocks, 1.0);
  const auto still = resample_ratio(ones, ones, draws);
  std::vector<contrast> same;
  std::vector<contrast> apart;
  for (std::uint64_t i = 0; i < 8; ++i) {
    same.push_back(*contrast::of(mean_figure(1, draws, blocks), still, blocks));
    apart.push_back(*contrast::of(mean_figure(i, draws, blocks), still, blocks));
  }
  EXPECT_NEAR(common_level(same), 0.05, 0.006);
  EXPECT_NEAR(common_level(apart), 0.05 / 8, 0.003);
  EXPECT_EQ(common_level(std::span(apart).first(1)), 0.05);
}

}  // namespace
}  // namespace graphline
