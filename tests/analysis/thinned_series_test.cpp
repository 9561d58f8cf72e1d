#include "framework/analysis/stats/thinned_series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/base/random.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

std::vector<nanoseconds> random_values(std::size_t n) {
  std::vector<nanoseconds> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<nanoseconds>(mix_seed(n, i) % 1'000'000);
  }
  return values;
}

TEST(thinned_series, keeps_all_of_few) {
  const std::vector<nanoseconds> values = {3, 1, 2};
  EXPECT_THAT(thinned_series(values, 10), ElementsAre(0, 1, 2));
  EXPECT_THAT(thinned_series(std::span(values).first(0), 10), ElementsAre());
}

TEST(thinned_series, keeps_both_ends_and_every_spike) {
  auto values = random_values(100'000);
  values[31'415] = 5'000'000;
  values[31'416] = -1;
  const auto kept = thinned_series(values, 2000);
  EXPECT_LE(kept.size(), 2000u);
  EXPECT_GE(kept.size(), 1900u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end());
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 99'999u);
  EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), 31'415u));
  EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), 31'416u));
}

TEST(evenly_spread, has_the_first_and_the_last) {
  EXPECT_THAT(evenly_spread(10, 4), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(evenly_spread(3, 4), ElementsAre(0, 1, 2));
  EXPECT_THAT(evenly_spread(0, 4), ElementsAre());
}

}  // namespace
}  // namespace graphline
