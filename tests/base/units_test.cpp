#include "framework/base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

namespace graphline {
namespace {

TEST(format_bytes, gives_three_digits_with_a_binary_prefix) {
  for (const auto& [bytes, text] : std::initializer_list<std::pair<std::uint64_t, const char*>>{
           {0, "0 B"},
           {1023, "1023 B"},
           {1024, "1.00 KiB"},
           {1536, "1.50 KiB"},
           {(1ULL << 20) - 1, "1.00 MiB"},  // rounding reaches the next prefix
           {822ULL << 20, "822 MiB"},
           {1010ULL << 20, "1010 MiB"},
           {std::numeric_limits<std::uint64_t>::max(), "16384 PiB"}}) {
    EXPECT_EQ(format_bytes(bytes), text);
  }
}

TEST(format_count, gives_three_digits_with_a_decimal_prefix) {
  struct {
    double value;
    const char* unit;
    const char* text;
  } const cases[] = {{9.47e11, "FLOP", "947 GFLOP"},
                     {1.11e10, "FLOP", "11.1 GFLOP"},
                     {999'600, "FLOP", "1.00 MFLOP"},
                     {2e19, "FLOP", "20000 PFLOP"},
                     {39.25, "FLOP/B", "39.2 FLOP/B"},
                     {0.0612, "FLOP/B", "0.0612 FLOP/B"},
                     {0, "frame/s", "0 frame/s"},
                     {45, "frame/s", "45 frame/s"},
                     {45, "", "45"},
                     {9.47e11, "", "947 G"},
                     {std::nan(""), "FLOP", "unknown FLOP"}};
  for (const auto& one : cases) EXPECT_EQ(format_count(one.value, one.unit), one.text);
}

TEST(format_duration, gives_three_digits_in_the_unit_that_suits) {
  for (const auto& [ns, text] :
       std::initializer_list<std::pair<double, const char*>>{{0, "0 ns"},
                                                             {9.996, "10.0 ns"},
                                                             {31.24, "31.2 ns"},
                                                             {99.96, "100 ns"},
                                                             {850, "850 ns"},
                                                             {999.4, "999 ns"},
                                                             {999.6, "1.00 us"},
                                                             {1300, "1.30 us"},
                                                             {47.1e6, "47.1 ms"},
                                                             {1.25e9, "1.25 s"},
                                                             {3600e9, "3600 s"},
                                                             {-1250, "-1.25 us"}}) {
    EXPECT_EQ(format_duration(ns), text);
  }
}

TEST(parse_duration, reads_every_unit) {
  for (const auto& [text, ns] :
       std::initializer_list<std::pair<const char*, nanoseconds>>{{"10ns", 10},
                                                                  {"10  ns", 10},
                                                                  {".5us", 500},
                                                                  {"300us", 300'000},
                                                                  {"300\u00b5s", 300'000},
                                                                  {"300\u03bcs", 300'000},
                                                                  {"20ms", 20'000'000},
                                                                  {"0ms", 0},
                                                                  {"2s", 2'000'000'000},
                                                                  {"1.5 s", 1'500'000'000},
                                                                  {"1.5 min", 90'000'000'000}}) {
    EXPECT_EQ(parse_duration(text), ns) << text;
  }
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
  for (const auto& [value, text] :
       std::initializer_list<std::pair<double, const char*>>{{123456.7, "123457"},
                                                             {741.23, "741"},
                                                             {99.96, "100"},
                                                             {74.123, "74.1"},
                                                             {9.996, "10.0"},
                                                             {7.4123, "7.41"},
                                                             {0.9996, "1.00"},
                                                             {0.74123, "0.741"},
                                                             {0.021, "0.0210"},
                                                             {0.00006, "0.0001"},
                                                             {0.00004, "<0.0001"},
                                                             {0, "0"}}) {
    EXPECT_EQ(three_digits(value), text);
  }
  EXPECT_EQ(signed_digits(16.04), "+16.0");
  EXPECT_EQ(signed_digits(-0.5, 2), "-0.50");
  EXPECT_EQ(signed_digits(-0.004, 2), "0");
  EXPECT_EQ(signed_digits(-std::numeric_limits<double>::infinity()), "-inf");
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
