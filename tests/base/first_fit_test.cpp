#include "framework/base/first_fit.hpp"

#include <gtest/gtest.h>

#include <random>

namespace graphline {
namespace {

/// Steps from the first to the last use of a block.
struct lifetime {
  std::size_t first;
  std::size_t last;
};

block_layout placed(const std::vector<std::size_t>& bytes, const std::vector<lifetime>& in_use) {
  return place_first_fit(bytes, [&](std::size_t a, std::size_t b) {
    return in_use[a].last < in_use[b].first || in_use[b].last < in_use[a].first;
  });
}

TEST(place_first_fit, shares_bytes_between_blocks_of_different_times) {
  const auto layout = placed({1000, 1000}, {{0, 1}, {2, 3}});
  EXPECT_EQ(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 1024U);
}

TEST(place_first_fit, keeps_apart_what_meets_in_one_step) {
  const auto layout = placed({1000, 500}, {{0, 2}, {2, 3}});
  EXPECT_NE(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 1024U + 512U);
}

TEST(place_first_fit, fills_a_gap_that_is_large_enough) {
  // The second block ends before the last two start; they fit in its place.
  const auto layout = placed({2048, 1024, 512, 512}, {{0, 9}, {0, 3}, {4, 9}, {4, 9}});
  EXPECT_EQ(layout.bytes, 3072U);
  // The last block fits exactly between the third and the second.
  const auto exact = placed({3072, 2048, 2048, 1024}, {{0, 1}, {0, 9}, {2, 9}, {2, 9}});
  EXPECT_EQ(exact.offsets[3], 2048U);
  EXPECT_EQ(exact.bytes, 5120U);
}

TEST(place_first_fit, needs_nothing_for_no_blocks) {
  EXPECT_EQ(placed({}, {}).bytes, 0U);
}

TEST(place_first_fit, never_overlaps_blocks_in_use_together_nor_exceeds_their_sum) {
  std::mt19937 generator(5);
  std::vector<std::size_t> bytes;
  std::vector<lifetime> in_use;
  std::size_t sum = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t first = generator() % 50;
    bytes.push_back(1 + generator() % 5000);
    in_use.push_back({first, first + generator() % 6});
    sum += aligned_bytes(bytes.back());
  }
  const auto layout = placed(bytes, in_use);
  EXPECT_LE(layout.bytes, sum);
  for (std::size_t a = 0; a < bytes.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % block_alignment, 0U);
    EXPECT_LE(layout.offsets[a] + bytes[a], layout.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      const bool together = in_use[a].first <= in_use[b].last && in_use[b].first <= in_use[a].last;
      const bool apart = layout.offsets[a] + bytes[a] <= layout.offsets[b] ||
                         layout.offsets[b] + bytes[b] <= layout.offsets[a];
      EXPECT_TRUE(!together || apart) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace graphline
