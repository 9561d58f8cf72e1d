#include "framework/report/terminal/look.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr look color{.color = true};

TEST(look, without_color_leaves_a_text_as_it_is) {
  EXPECT_EQ(toned("FAILED", tone::bad, {}), "FAILED");
  EXPECT_EQ(paragraph("FAILED", 0, {}, tone::bad), "FAILED\n");
}

TEST(look, sets_each_line_in_its_tone_and_no_spaces_around_it) {
  EXPECT_EQ(toned("  a b \n\nc", tone::bad, color), "  \x1b[31ma b\x1b[0m \n\n\x1b[31mc\x1b[0m");
  EXPECT_EQ(toned("   ", tone::bad, color), "   ");
  EXPECT_EQ(toned("", tone::bad, color), "");
  EXPECT_EQ(toned("plain", tone::plain, color), "plain");
}

TEST(look, counts_no_column_for_escape_sequences) {
  EXPECT_EQ(text_width(toned("word", tone::good, color)), 4U);
  EXPECT_EQ(escape_at("\x1b[31mword"), 5U);
  EXPECT_EQ(escape_at("word"), 0U);
  EXPECT_EQ(escape_at("\x1b[31"), 0U);
}

TEST(look, shows_text_up_to_what_a_terminal_would_act_on) {
  const std::string plain = "a name, \xc3\xa4 \xe6\xbc\xa2 \xf0\x9f\x98\x80\tand\nmore";
  EXPECT_EQ(shown_bytes(plain, false), plain.size());
  for (const char* acted_on :
       {"\x01", "\r", "\x1b]0;title\x07", "\x1b[2J", "\x7f", "\xc2\x9b", "\xe2\x80\xae",
        "\xe2\x81\xa6", "\xe2\x80\x8f", "\xff", "\xe2\x80"}) {
    EXPECT_EQ(shown_bytes(plain + acted_on + "b", true), plain.size()) << acted_on;
  }
  for (const auto in : {tone::heading, tone::faint, tone::good, tone::bad, tone::warning}) {
    const auto text = toned("word", in, color) + " more";
    EXPECT_EQ(shown_bytes(text, true), text.size());
    EXPECT_EQ(shown_bytes(text, false), 0U);
  }
}

TEST(look, gives_names_more_room_where_there_is_more) {
  EXPECT_EQ((look{.width = 60}.room(28)), 28U);
  EXPECT_EQ((look{.width = 80}.room(28)), 28U);
  EXPECT_EQ((look{.width = 120}.room(28)), 48U);
}

TEST(look, of_a_run_in_color) {
  auto record = samples::two_models(timing_method::event, 45);
  record.run.frames = 50;
  record.interrupted = true;
  record.warnings = {"the device has one level of priority"};
  samples::expect_golden("run_color.txt", report::as_text(report::describe(record), color));
}

TEST(look, lets_a_name_bring_no_color) {
  auto record = samples::two_models(timing_method::event, 5);
  record.stages[0].name = "\x1b[31mred\x1b[0m";
  record.pipeline =
      "\x9b"
      "31mred";  // the same in one byte
  const auto text = report::as_text(report::describe(record), color);
  EXPECT_THAT(text, AllOf(HasSubstr("?[31mred?[0m"), HasSubstr("?31mred"),
                          Not(HasSubstr("\x1b[31m")), Not(HasSubstr("\x9b"))));
}

}  // namespace
}  // namespace graphline
