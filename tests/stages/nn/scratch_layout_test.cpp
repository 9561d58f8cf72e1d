#include "stages/nn/program/program.hpp"

#include <gtest/gtest.h>

#include <random>

namespace graphline::nn {

namespace {

TEST(scratch_layout, shares_bytes_between_blocks_of_different_times) {
  const auto layout = lay_out_scratch({{1000, 0, 1}, {1000, 2, 3}});
  EXPECT_EQ(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 1024U);
}

TEST(scratch_layout, keeps_apart_what_meets_in_one_step) {
  const auto layout = lay_out_scratch({{1000, 0, 2}, {500, 2, 3}});
  EXPECT_NE(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 1024U + 512U);
}

TEST(scratch_layout, fills_a_gap_that_is_large_enough) {
  // The second block ends before the last two start; they fit in its place.
  const auto layout = lay_out_scratch({{2048, 0, 9}, {1024, 0, 3}, {512, 4, 9}, {512, 4, 9}});
  EXPECT_EQ(layout.bytes, 3072U);
}

TEST(scratch_layout, needs_nothing_for_no_blocks) {
  EXPECT_EQ(lay_out_scratch({}).bytes, 0U);
}

TEST(scratch_layout, never_overlaps_blocks_in_use_together) {
  std::mt19937 generator(5);
  std::vector<scratch_block> blocks;
  for (int i = 0; i < 200; ++i) {
    const std::size_t first = generator() % 50;
    blocks.push_back({1 + generator() % 5000, first, first + generator() % 6});
  }
  const auto layout = lay_out_scratch(blocks);
  for (std::size_t a = 0; a < blocks.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % 256, 0U);
    EXPECT_LE(layout.offsets[a] + blocks[a].bytes, layout.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
      const bool apart = layout.offsets[a] + blocks[a].bytes <= layout.offsets[b] ||
                         layout.offsets[b] + blocks[b].bytes <= layout.offsets[a];
      EXPECT_TRUE(!together || apart) << a << " and " << b;
    }
  }
}

}  // namespace

}  // namespace graphline::nn
