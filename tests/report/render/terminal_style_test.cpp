#include "framework/report/render/terminal_style.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr terminal_style in_color{.colors = true};

TEST(terminal_style, without_color_leaves_a_text_as_it_is) {
  EXPECT_EQ(colored("FAILED", color::bad, {}), "FAILED");
  EXPECT_EQ(paragraph("FAILED", 0, {}, color::bad), "FAILED\n");
}

TEST(terminal_style, sets_a_text_in_its_color) {
  EXPECT_EQ(colored("a b", color::bad, in_color), "\x1b[31ma b\x1b[0m");
  EXPECT_EQ(colored("", color::bad, in_color), "");
  EXPECT_EQ(colored("plain", color::plain, in_color), "plain");
}

TEST(terminal_style, counts_no_column_for_escape_sequences) {
  EXPECT_EQ(text_width(colored("word", color::good, in_color)), 4U);
  EXPECT_EQ(escape_at("\x1b[31mword"), 5U);
  EXPECT_EQ(escape_at("word"), 0U);
  EXPECT_EQ(escape_at("\x1b[31"), 0U);
}

TEST(terminal_style, shows_text_up_to_what_a_terminal_would_act_on) {
  const std::string plain = "a name, \xc3\xa4 \xe6\xbc\xa2 \xf0\x9f\x98\x80\tand\nmore";
  EXPECT_EQ(shown_bytes(plain, false), plain.size());
  for (const char* acted_on :
       {"\x01", "\r", "\x1b]0;title\x07", "\x1b[2J", "\x7f", "\xc2\x9b", "\xe2\x80\xae",
        "\xe2\x81\xa6", "\xe2\x80\x8f", "\xff", "\xe2\x80"}) {
    EXPECT_EQ(shown_bytes(plain + acted_on + "b", true), plain.size()) << acted_on;
  }
  for (const auto in : {color::heading, color::faint, color::good, color::bad, color::warning}) {
    const auto text = colored("word", in, in_color) + " more";
    EXPECT_EQ(shown_bytes(text, true), text.size());
    EXPECT_EQ(shown_bytes(text, false), 0U);
  }
}

TEST(terminal_style, of_a_run_in_color) {
  auto record = samples::two_models(timing_method::event, 45);
  record.run.frames = 50;
  record.interrupted = true;
  record.warnings = {"the device has one level of priority"};
  samples::expect_golden("run_color.txt", report::as_text(report::describe(record), in_color));
}

TEST(terminal_style, lets_a_name_bring_no_color) {
  auto record = samples::two_models(timing_method::event, 5);
  record.stages[0].name = "\x1b[31mred\x1b[0m";
  record.pipeline =
      "\x9b"
      "31mred";  // the same in one byte
  const auto text = report::as_text(report::describe(record), in_color);
  EXPECT_THAT(text, AllOf(HasSubstr("?[31mred?[0m"), HasSubstr("?31mred"),
                          Not(HasSubstr("\x1b[31m")), Not(HasSubstr("\x9b"))));
}

}  // namespace
}  // namespace graphline
