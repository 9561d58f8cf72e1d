#include "framework/base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace graphline {
namespace {

TEST(utf8_at, decodes_one_to_four_bytes) {
  const std::string text = "a\u00e9\u8a66\U0001F600";
  EXPECT_EQ(utf8_at(text, 0).code, U'a');
  EXPECT_EQ(utf8_at(text, 1).code, U'\u00e9');
  EXPECT_EQ(utf8_at(text, 3).code, U'\u8a66');
  EXPECT_EQ(utf8_at(text, 6).code, U'\U0001F600');
  EXPECT_EQ(utf8_at(text, 6).bytes, 4U);
}

TEST(utf8_at, refuses_what_is_not_utf8_one_byte_at_a_time) {
  for (const char* bytes :
       {"\x80", "\xc0\xaf", "\xc1\x81", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe8\xa9", "\xc3x"}) {
    EXPECT_FALSE(utf8_at(bytes, 0).code) << testing::PrintToString(bytes);
    EXPECT_EQ(utf8_at(bytes, 0).bytes, 1U);
  }
}

TEST(first_invalid_utf8, finds_the_byte) {
  EXPECT_EQ(first_invalid_utf8("größe"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("gr\xf6\xdf"
                               "e"),
            2U);
}

TEST(display_width, follows_the_terminal) {
  EXPECT_EQ(display_width(U'a'), 1U);
  EXPECT_EQ(display_width(U'\u8a66'), 2U);
  EXPECT_EQ(display_width(U'\U0001F600'), 2U);
  EXPECT_EQ(display_width(U'\u0301'), 0U);
}

TEST(printable, never_lets_control_characters_through) {
  EXPECT_EQ(printable("a\x1b[0m\r\n\t\u009b\u202e\xff"
                      "b"),
            "a?[0m??????b");
  EXPECT_EQ(printable("größe"), "größe");
}

TEST(printable, shows_a_text_alike_before_and_after_its_bytes_were_replaced) {
  for (const char* bytes : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xe8\xa9", "\xf0\x9f\x98", "\xf0\x9f\x98x", "\xc3x", "a\xff\xfe"}) {
    EXPECT_EQ(printable(as_utf8(bytes)), printable(bytes)) << testing::PrintToString(bytes);
  }
}

TEST(as_utf8, replaces_each_byte_that_is_none) {
  EXPECT_EQ(as_utf8("größe\n試\U0001F600"), "größe\n試\U0001F600");
  EXPECT_EQ(as_utf8("\xe8\xa9x"), "\ufffd\ufffdx");
  EXPECT_EQ(as_utf8("\xff\xc3\xc3\xa9"), "\ufffd\ufffd\u00e9");
}

TEST(quote, cuts_long_texts_between_characters) {
  EXPECT_EQ(quote("abc"), "'abc'");
  EXPECT_EQ(quote("net\u200bwork 5\u00a0ms\ufeff"), "'net<U+200B>work 5<U+00A0>ms<U+FEFF>'");
  EXPECT_EQ(quote("äää", 6), "'äää'");
  EXPECT_EQ(quote("äää", 5), "'ää...'");
  EXPECT_EQ(quote(std::string(1000, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace graphline
