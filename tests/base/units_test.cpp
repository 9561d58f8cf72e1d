#include "framework/base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace graphline {
namespace {

TEST(format_bytes, gives_three_digits_with_a_binary_prefix) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(822ULL << 20), "822 MiB");
  EXPECT_EQ(format_bytes(1010ULL << 20), "1010 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16384 PiB");
}

TEST(format_bytes, moves_on_to_the_next_prefix_when_rounding_reaches_it) {
  EXPECT_EQ(format_bytes((1ULL << 20) - 1), "1.00 MiB");
}

TEST(format_count, gives_three_digits_with_a_decimal_prefix) {
  EXPECT_EQ(format_count(9.47e11, "FLOP"), "947 GFLOP");
  EXPECT_EQ(format_count(1.11e10, "FLOP"), "11.1 GFLOP");
  EXPECT_EQ(format_count(999'600, "FLOP"), "1.00 MFLOP");
  EXPECT_EQ(format_count(2e19, "FLOP"), "20000 PFLOP");
  EXPECT_EQ(format_count(39.25, "FLOP/byte"), "39.2 FLOP/byte");
  EXPECT_EQ(format_count(0.0612, "FLOP/byte"), "0.0612 FLOP/byte");
}

TEST(format_count, shows_small_whole_numbers_as_they_are) {
  EXPECT_EQ(format_count(0, "frame/s"), "0 frame/s");
  EXPECT_EQ(format_count(45, "frame/s"), "45 frame/s");
}

TEST(format_count, has_nothing_after_a_number_without_prefix_and_unit) {
  EXPECT_EQ(format_count(45, ""), "45");
  EXPECT_EQ(format_count(9.47e11, ""), "947 G");
}

TEST(format_count, says_so_when_a_value_is_not_known) {
  EXPECT_EQ(format_count(std::nan(""), "FLOP"), "unknown FLOP");
}

TEST(format_duration, gives_three_digits_in_the_unit_that_suits) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(31.24), "31.2 ns");
  EXPECT_EQ(format_duration(850), "850 ns");
  EXPECT_EQ(format_duration(1300), "1.30 us");
  EXPECT_EQ(format_duration(47.1e6), "47.1 ms");
  EXPECT_EQ(format_duration(1.25e9), "1.25 s");
  EXPECT_EQ(format_duration(3600e9), "3600 s");
}

TEST(format_duration, rounds_into_the_next_digit_and_the_next_unit) {
  EXPECT_EQ(format_duration(9.996), "10.0 ns");
  EXPECT_EQ(format_duration(99.96), "100 ns");
  EXPECT_EQ(format_duration(999.4), "999 ns");
  EXPECT_EQ(format_duration(999.6), "1.00 us");
}

TEST(format_duration, keeps_the_sign_of_a_difference) {
  EXPECT_EQ(format_duration(-1250), "-1.25 us");
}

TEST(parse_duration, reads_every_unit) {
  EXPECT_EQ(parse_duration("10ns"), 10);
  EXPECT_EQ(parse_duration("1.5 min"), 90'000'000'000);
  EXPECT_EQ(parse_duration("300us"), 300'000);
  EXPECT_EQ(parse_duration("300µs"), 300'000);
  EXPECT_EQ(parse_duration("20ms"), 20'000'000);
  EXPECT_EQ(parse_duration("2s"), 2'000'000'000);
}

TEST(parse_duration, takes_fractions_and_a_blank_before_the_unit) {
  EXPECT_EQ(parse_duration("1.5 s"), 1'500'000'000);
  EXPECT_EQ(parse_duration("10  ns"), 10);
  EXPECT_EQ(parse_duration(".5us"), 500);
  EXPECT_EQ(parse_duration("0ms"), 0);
}

TEST(parse_duration, refuses_what_lacks_its_unit_or_is_no_duration) {
  for (const char* text : {"", "20", "ms", "20 m", "20 mins", "-5ms", "+5ms", "infs", "nan ms",
                           " 5ms", "5ms ", "5 ms s", "1e400s", "1e10 s s", "0x5ms", "."}) {
    EXPECT_FALSE(parse_duration(text)) << "'" << text << "'";
  }
}

TEST(parse_duration, refuses_what_nanoseconds_cannot_hold) {
  EXPECT_FALSE(parse_duration("1e10s"));
  EXPECT_EQ(parse_duration("9e9s"), 9'000'000'000'000'000'000);
}

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
