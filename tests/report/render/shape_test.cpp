#include "framework/report/render/shape.hpp"

#include <gtest/gtest.h>

#include "framework/report/render/text_table.hpp"

namespace graphline {
namespace {

distribution evenly(nanoseconds from, nanoseconds to, nanoseconds step) {
  std::vector<nanoseconds> sample;
  for (auto at = from; at < to; at += step) sample.push_back(at);
  return *distribution::of(sample);
}

TEST(shape, has_a_bar_for_each_count_by_its_part_of_the_largest) {
  const std::size_t counts[] = {0, 1, 50, 51, 100, 799, 800};
  EXPECT_EQ(bars_of(counts), " ▁▁▁▁██");
  const std::size_t each[] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(bars_of(each), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(bars_of({}), "");
}

TEST(shape, of_times_that_are_spread_evenly_is_even) {
  const auto even = evenly(1'000, 9'000, 10);
  const auto shapes = shapes_of({&even}, scale::own);
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes.front(), "████████");
}

TEST(shape, marks_what_lies_far_beyond_the_bars) {
  std::vector<nanoseconds> sample;
  for (int i = 0; i < 999; ++i) sample.push_back(1'000 + i);
  sample.push_back(1'000'000);
  const auto late = *distribution::of(sample);
  EXPECT_TRUE(shapes_of({&late}, scale::own).front().ends_with('>'));
}

TEST(shape, on_a_shared_scale_stands_where_the_times_are) {
  const auto fast = evenly(1'000, 2'000, 10);
  const auto slow = evenly(7'000, 8'000, 10);
  const auto few = evenly(0, 10, 1);
  const auto shapes = shapes_of({&fast, &slow, nullptr, &few}, scale::shared);
  ASSERT_EQ(shapes.size(), 4U);
  EXPECT_NE(shapes[0].front(), ' ');
  // No sample has times between the two.
  EXPECT_GE(shapes[1].find_first_not_of(' '), text_width(shapes[0]) + 3) << shapes[1];
  EXPECT_EQ(shapes[2], "");
  EXPECT_EQ(shapes[3], "");
}

TEST(shape, is_not_shown_of_few_values) {
  const auto few = evenly(0, static_cast<nanoseconds>(least_for_shape) - 1, 1);
  const auto enough = evenly(0, static_cast<nanoseconds>(least_for_shape), 1);
  EXPECT_TRUE(shapes_of({&few, nullptr}, scale::own).empty());
  EXPECT_FALSE(shapes_of({&enough, nullptr}, scale::own).empty());
  EXPECT_TRUE(shapes_of({}, scale::shared).empty());
}

}  // namespace
}  // namespace graphline
