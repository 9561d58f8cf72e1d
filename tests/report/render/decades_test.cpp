#include "framework/report/render/decades.hpp"

#include <gtest/gtest.h>

namespace graphline {
namespace {

TEST(decades, begin_and_end_at_half_decades_around_what_they_hold) {
  decades axis;
  axis.include(20);
  axis.include(4000);
  EXPECT_DOUBLE_EQ(axis.value(0), 10);
  EXPECT_DOUBLE_EQ(axis.value(1), 10'000);
  EXPECT_DOUBLE_EQ(axis.share(100), 1.0 / 3);
  EXPECT_DOUBLE_EQ(axis.share_of_decade(3), 2.0 / 3);
  axis.include(20'000);
  EXPECT_EQ(axis.first(), 1);
  EXPECT_EQ(axis.last(), 4);
}

TEST(decades, pass_over_what_has_no_logarithm) {
  decades axis;
  axis.include(50);
  axis.include(0);
  axis.include(-3);
  axis.include(INFINITY);
  EXPECT_DOUBLE_EQ(axis.value(1), 100);
}

TEST(decades, are_called_shortly) {
  EXPECT_EQ(tick(0), "1");
  EXPECT_EQ(tick(2), "100");
  EXPECT_EQ(tick(3), "1 k");
  EXPECT_EQ(tick(10), "10 G");
  EXPECT_EQ(tick(-2), "0.01");
  EXPECT_EQ(tick(-5), "1e-5");
  EXPECT_EQ(tick(19), "1e19");
}

}  // namespace
}  // namespace graphline
