#include "framework/base/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace graphline {
namespace {

TEST(quantity, has_three_significant_digits) {
  EXPECT_EQ(three_digits(74.123), "74.1");
  EXPECT_EQ(three_digits(7.4123), "7.41");
  EXPECT_EQ(three_digits(0.74123), "0.741");
  EXPECT_EQ(three_digits(0.021), "0.0210");
  EXPECT_EQ(three_digits(741.23), "741");
  EXPECT_EQ(three_digits(123456.7), "123457");
}

TEST(quantity, rounds_up_without_gaining_a_digit) {
  EXPECT_EQ(three_digits(9.996), "10.0");
  EXPECT_EQ(three_digits(99.96), "100");
  EXPECT_EQ(three_digits(0.9996), "1.00");
}

TEST(quantity, is_never_shown_as_zero_when_it_is_not) {
  EXPECT_EQ(three_digits(0.00004), "<0.0001");
  EXPECT_EQ(three_digits(0.00006), "0.0001");
  EXPECT_EQ(three_digits(0), "0");
}

TEST(quantity, is_shown_where_no_number_holds_it) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(three_digits(infinity), "inf");
  EXPECT_EQ(signed_digits(-infinity), "-inf");
  EXPECT_EQ(in_unit(infinity, microsecond), "inf");
}

TEST(quantity, carries_its_sign_where_asked) {
  EXPECT_EQ(signed_digits(16.04), "+16.0");
  EXPECT_EQ(signed_digits(-0.5, 2), "-0.50");
  EXPECT_EQ(signed_digits(-0.004, 2), "0");
}

TEST(quantity, takes_the_unit_that_suits_the_largest_value) {
  EXPECT_EQ(unit_for(0).name, "ns");
  EXPECT_EQ(unit_for(999).name, "ns");
  EXPECT_EQ(unit_for(999.6).name, "us");
  EXPECT_EQ(unit_for(74e6).name, "ms");
  EXPECT_EQ(unit_for(5e12).name, "s");
  EXPECT_EQ(in_unit(74.123e6, unit_for(74e6)), "74.1");
  EXPECT_EQ(in_unit(std::nullopt, microsecond), "-");
}

}  // namespace
}  // namespace graphline
