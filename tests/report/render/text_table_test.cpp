#include "framework/report/render/text_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace graphline {
namespace {

TEST(text_table, stands_decimal_points_under_each_other) {
  text_table table({{"stage", text_table::align::left}, {"mean"}, {"p99"}});
  table.add_row({"backbone", "70.1", "-"});
  table.add_row({"head", "0.0412", "<0.0001"});
  table.add_row({"x", "123", "word"});
  EXPECT_EQ(table.text(),
            "stage         mean      p99\n"
            "backbone   70.1           -\n"
            "head        0.0412  <0.0001\n"
            "x         123          word\n");
}

TEST(text_table, aligns_by_what_a_terminal_shows_and_not_by_bytes) {
  text_table table({{"n", text_table::align::left}, {"v"}});
  table.add_row({"caf\xc3\xa9", "1"});
  table.add_row({"\xe5\x83\x8f", "2"});  // one character, two columns
  EXPECT_EQ(table.text(), "n     v\ncaf\xc3\xa9  1\n\xe5\x83\x8f    2\n");
}

TEST(text_table, leaves_no_spaces_at_the_ends_of_lines) {
  text_table table({{"a", text_table::align::left}, {"b", text_table::align::left}});
  table.add_row({"x", ""});
  EXPECT_EQ(table.text(), "a  b\nx\n");
}

TEST(text_table, wraps_at_spaces_and_indents_what_follows) {
  EXPECT_EQ(wrapped("one two three", 2, 8), "one two\n  three");
  EXPECT_EQ(wrapped("longerthanthat x", 0, 8), "longerthanthat\nx");
  EXPECT_EQ(wrapped("", 0, 8), "");
}

TEST(text_table, cuts_a_long_name_in_its_middle) {
  EXPECT_EQ(table_name("short", 10), "short");
  EXPECT_EQ(table_name("copy_features_to_cpu", 11), "copy_…o_cpu");
  EXPECT_EQ(text_width(table_name(std::string(100, 'x'), 28)), 28u);
  EXPECT_EQ(table_name("a\nb", 9), "a?b");
  EXPECT_EQ(table_name("漢漢漢漢", 6), "漢…漢");
  EXPECT_EQ(table_name("abc", 1), "…");
  EXPECT_EQ(table_name("/blocks.0/attn/qkv/MatMul", 12), "…/qkv/MatMul");
  EXPECT_EQ(table_name("/b.0/f/MatMul+/b.0/f/Add+/b.0/Add", 20), "/b.0/f/MatMul+2");
  EXPECT_EQ(table_name("/b.0/f/MatMul+/b.0/f/Add+/b.0/Add", 12), "…/f/MatMul+2");
}

TEST(text_table, cuts_names_of_any_length_in_time_that_grows_with_it) {
  // Quadratic time would be a day; tests may take a minute.
  EXPECT_EQ(table_name(std::string(4'000'000, 'x'), 5), "xx…xx");
}

text_table made_table() {
  text_table table({{"stage", text_table::align::left, 6},
                    {"mean"},
                    {"stddev", text_table::align::number, 0, 2},
                    {"max", text_table::align::number, 0, 1},
                    {"shape", text_table::align::left, 0, 10}});
  table.add_row({"copy_features", "1.5", "0.2", "20", "xXx"});
  table.add_row({"x", "10", "-", "30", "Xx"});
  return table;
}

TEST(text_table, shows_everything_where_there_is_room) {
  EXPECT_EQ(made_table().text({.width = 40}),
            "stage          mean  stddev  max  shape\n"
            "copy_features   1.5     0.2   20  xXx\n"
            "x              10         -   30  Xx\n");
}

TEST(text_table, leaves_extra_columns_out_first_and_says_nothing_of_it) {
  EXPECT_EQ(made_table().text({.width = 38}),
            "stage          mean  stddev  max\n"
            "copy_features   1.5     0.2   20\n"
            "x              10         -   30\n");
}

TEST(text_table, then_cuts_names) {
  EXPECT_EQ(made_table().text({.width = 26}),
            "stage    mean  stddev  max\n"
            "cop…res   1.5     0.2   20\n"
            "x        10         -   30\n");
}

TEST(text_table, then_leaves_out_what_is_most_expendable_and_says_so) {
  EXPECT_EQ(made_table().text({.width = 24}),
            "stage          mean  max\n"
            "copy_features   1.5   20\n"
            "x              10     30\n"
            "too narrow to show:\n"
            "  stddev\n");
}

TEST(text_table, says_of_which_figure_the_columns_are_that_it_leaves_out) {
  using enum text_table::align;
  text_table made({{"name", left},
                   {"p50"},
                   {"change %", number, 0, 1},
                   {"frame/s"},
                   {"change %", number, 0, 2}});
  made.add_row({"fast", "1.5", "+3", "20", "-4"});
  const auto narrow = made.lay_out({.width = 20});
  EXPECT_EQ(narrow.text,
            "name  p50  frame/s\n"
            "fast  1.5       20\n"
            "too narrow to show:\n"
            "  change % of\n"
            "  frame/s, change %\n"
            "  of p50\n");
  EXPECT_EQ(narrow.columns, (std::vector<std::size_t>{0, 1, 3}));
}

TEST(text_table, then_leaves_out_whatever_comes_last_but_the_first_column) {
  EXPECT_EQ(made_table().text({.width = 8}),
            "stage\n"
            "copy…res\n"
            "x\n"
            "too\n  narrow\n  to\n  show:\n  stddev,\n  max,\n  mean\n");
}

/// A table of one difference: 'X' before and 'Y' after, anywhere in the texts.
std::string difference(const std::string& before, const std::string& after, std::size_t width) {
  using enum text_table::align;
  text_table table({{"differs", left, least_name},
                    {"before", left, least_name},
                    {.heading = "after", .align = left, .least = least_name, .differs = true}});
  table.add_row({"pipelines/two_models.yaml:7", before, after});
  return table.text({.width = width});
}

TEST(text_table, cuts_two_texts_around_the_place_where_they_differ) {
  const std::string long_line(90, '-');
  EXPECT_EQ(difference("a" + long_line + "X" + long_line, "a" + long_line + "Y" + long_line, 60),
            "differs             before               after\n"
            "pipelines…s.yaml:7  …------X----------…  …------Y----------…\n");
  for (std::size_t width = 40; width <= 160; width += 3) {
    for (std::size_t at = 0; at <= 200; at += 13) {
      for (const std::size_t rest : {0, 1, 5, 60, 200}) {
        const auto text = [&](char c) { return std::string(at, 'a') + c + std::string(rest, 'b'); };
        const auto shown = difference(text('X'), text('Y'), width);
        ASSERT_EQ(std::ranges::count(shown, 'X'), 1) << shown;
        ASSERT_EQ(std::ranges::count(shown, 'Y'), 1) << shown;
      }
      // One text continues where the other ends.
      const auto shown = difference(std::string(at, 'a'), std::string(at, 'a') + "XY", width);
      ASSERT_EQ(std::ranges::count(shown, 'X'), 1) << shown;
    }
  }
}

TEST(text_table, aligns_cells_in_color_by_what_is_shown_of_them) {
  const terminal_style in_color{.colors = true};
  text_table table({{"word", text_table::align::left}, {"n"}});
  table.add_row({colored("good", color::good, in_color), "1"});
  table.add_row({"longer", "2"});
  EXPECT_EQ(table.text(in_color),
            "\x1b[1mword\x1b[0m    \x1b[1mn\x1b[0m\n"
            "\x1b[32mgood\x1b[0m    1\n"
            "longer  2\n");
}

}  // namespace
}  // namespace graphline
