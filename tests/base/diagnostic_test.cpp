#include "framework/base/diagnostic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/base/place.hpp"

namespace graphline {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<const source_text> make_source(std::string text, std::string name = "a.yaml") {
  return std::make_shared<const source_text>(std::move(name), std::move(text));
}

std::string rendered(const place& where, std::string message = "wrong") {
  return diagnostic{severity::error, where, std::move(message)}.render();
}

TEST(diagnostic, shows_the_line_with_a_caret_under_the_place) {
  std::string text(12, '\n');
  text += "    kind: netwrok\n";
  const auto source = make_source(text, "pipelines/two_models.yaml");
  EXPECT_EQ(rendered({source, 13, 11, 7}, "unknown kind 'netwrok' (did you mean 'network'?)"),
            "pipelines/two_models.yaml:13:11: error: unknown kind 'netwrok' (did you mean "
            "'network'?)\n"
            "   13 |     kind: netwrok\n"
            "      |           ^~~~~~~");
}

TEST(diagnostic, has_a_gutter_that_grows_with_the_line_number) {
  const auto source = make_source(std::string(123455, '\n') + "x: 1");
  EXPECT_EQ(rendered({source, 123456, 4, 1}),
            "a.yaml:123456:4: error: wrong\n"
            "123456 | x: 1\n"
            "       |    ^");
}

TEST(diagnostic, shows_as_much_of_the_place_as_there_is) {
  const struct {
    place where;
    const char* text;
  } cases[] = {
      {{}, "error: wrong"},
      {{make_source("x")}, "a.yaml: error: wrong"},
      {{make_source("a\n  \n"), 2, 1, 1}, "a.yaml:2:1: error: wrong"},  // a blank line
      {{make_source("a"), 9, 1, 1}, "a.yaml:9:1: error: wrong"},        // beyond the text
      {{make_source("größe: ä"), 1, 10, 2},
       "a.yaml:1:8: error: wrong\n    1 | größe: ä\n      |        ^"},
      // Wide characters take two columns and combining ones none.
      {{make_source("試験: e\u0301x"), 1, 12, 1},
       "a.yaml:1:7: error: wrong\n    1 | 試験: e\u0301x\n      |        ^"},
      {{make_source("a: 試験"), 1, 4, 6},
       "a.yaml:1:4: error: wrong\n    1 | a: 試験\n      |    ^~~~"},
      // A tab stays, so that the caret lines up.
      {{make_source("\ta:\tb"), 1, 5, 1},
       "a.yaml:1:5: error: wrong\n    1 | \ta:\tb\n      | \t  \t^"},
      // Marks that reverse text, control characters and invalid bytes are shown as question marks.
      {{make_source("a\u202eb"), 1, 1, 1}, "a.yaml:1:1: error: wrong\n    1 | a?b\n      | ^"},
      {{make_source("a: \x1b[31m\xff!", "na\x1bme"), 1, 9, 1},
       "na?me:1:9: error: wrong\n    1 | a: ?[31m?!\n      |         ^"},
      // The caret stands behind the line when the place lies beyond it.
      {{make_source("ab\r\ncd"), 1, 40, 9}, "a.yaml:1:3: error: wrong\n    1 | ab\n      |   ^"}};
  for (const auto& [where, text] : cases) EXPECT_EQ(rendered(where), text);
  EXPECT_EQ((diagnostic{severity::warning, {}, "odd\x07"}.render()), "warning: odd?");
}

TEST(diagnostic, cuts_a_long_line_around_the_place) {
  const std::string line = std::string(500, 'a') + "HERE" + std::string(500, 'b');
  EXPECT_EQ(rendered({make_source(line), 1, 501, 4}),
            "a.yaml:1:501: error: wrong\n"
            "    1 | ..." +
                std::string(50, 'a') + "HERE" + std::string(63, 'b') +
                "...\n"
                "      | " +
                std::string(53, ' ') + "^~~~");
}

TEST(diagnostic, cuts_the_underline_with_the_line) {
  const std::string text = rendered({make_source(std::string(1000, 'a')), 1, 1, 1000});
  EXPECT_THAT(text, HasSubstr("| " + std::string(120, 'a') + "...\n"));
  EXPECT_THAT(text, EndsWith("| ^" + std::string(119, '~')));
}

TEST(diagnostic, cuts_a_long_line_between_characters) {
  std::string line;
  for (int i = 0; i < 200; ++i) line += "ä";
  const std::string text = rendered({make_source(line), 1, 201, 2});
  EXPECT_THAT(text, StartsWith("a.yaml:1:101: error: wrong\n    1 | ...ä"));
  EXPECT_THAT(text, testing::Not(HasSubstr("?")));
}

TEST(diagnostics, tells_errors_from_warnings) {
  diagnostics found;
  found.warning({}, "odd");
  EXPECT_FALSE(found.has_errors());
  EXPECT_NO_THROW(found.throw_if_errors());
  found.error({}, "wrong");
  EXPECT_TRUE(found.has_errors());
  EXPECT_EQ(found.all().size(), 2U);
}

TEST(diagnostics, throws_everything_it_holds_at_once) {
  diagnostics found;
  found.error({}, "wrong");
  found.warning({}, "odd");
  try {
    found.throw_if_errors();
    FAIL() << "nothing was thrown";
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "error: wrong\nwarning: odd");
    EXPECT_EQ(e.status(), exit_status::bad_input);
  }
}

TEST(diagnostics, renders_in_order_of_place_file_by_file) {
  const auto a = make_source("", "a");
  const auto b = make_source("", "b");
  diagnostics found;
  found.error({b, 2, 1, 1}, "third");
  found.error({a, 1, 1, 1}, "fifth");
  found.error({b, 2, 9, 1}, "fourth");
  found.error({b, 1, 7, 1}, "second");
  found.error({}, "first");
  EXPECT_EQ(found.render(),
            "error: first\n"
            "b:1:1: error: second\n"
            "b:2:1: error: third\n"
            "b:2:1: error: fourth\n"
            "a:1:1: error: fifth");
}

TEST(diagnostics, say_once_what_is_wrong_twice_at_one_place) {
  const auto a = make_source("", "a");
  diagnostics found;
  found.error({a, 1, 1, 1}, "wrong");
  found.error({a, 1, 1, 1}, "wrong");
  found.error({a, 1, 1, 1}, "also wrong");
  found.error({a, 2, 1, 1}, "wrong");
  EXPECT_EQ(found.render(), "a:1:1: error: wrong\na:1:1: error: also wrong\na:2:1: error: wrong");
}

TEST(diagnostics, counts_what_goes_beyond_the_limit) {
  diagnostics found;
  for (int i = 0; i < 5; ++i) found.error({}, std::to_string(i));
  EXPECT_EQ(found.render(2), "error: 0\nerror: 1\n... and 3 more");
  EXPECT_EQ(found.render(5), "error: 0\nerror: 1\nerror: 2\nerror: 3\nerror: 4");
}

TEST(diagnostics, renders_nothing_when_nothing_is_wrong) {
  EXPECT_EQ(diagnostics().render(), "");
}

const std::vector<std::string> kinds = {"network", "copy", "matmul", "cpu.spin", "cpu.top_k"};

TEST(nearest, finds_what_is_near_enough_to_be_a_slip) {
  const std::vector<std::string> known = {"network",   "copy",   "matmul", "cpu.spin",
                                          "cpu.top_k", "device", "frames", "framing"};
  for (const auto& [word, meant] : std::initializer_list<std::pair<const char*, const char*>>{
           {"netwrok", "network"},   // neighbors swapped
           {"networ", "network"},    // one left out
           {"nettwork", "network"},  // one too many
           {"matmal", "matmul"},     // one replaced
           {"NETWORK", "network"},   // case and hyphens weigh nothing
           {"CPU.TOP-K", "cpu.top_k"},
           {"frame", "frames"},  // the fewest edits
           {"transformer", ""},
           {"cpu", ""},
           {"", ""}}) {
    EXPECT_EQ(nearest(word, known), meant) << word;
  }
  EXPECT_EQ(nearest("gpu", {"device", "cpu"}), "") << "too short for a slip";
  EXPECT_EQ(nearest("CPU", {"device", "cpu"}), "cpu");
  EXPECT_EQ(nearest(std::string(10'000'000, 'x'), known), "") << "soon";
  EXPECT_EQ(nearest("mast", {"cast", "past"}), "cast") << "the first";
}

TEST(diagnostic, shows_beginning_and_end_of_a_message_without_bound) {
  const auto text =
      diagnostic{severity::error, {}, "begins " + std::string(4'000'000, 'x') + " the remedy"}
          .render();
  EXPECT_LT(text.size(), 2100U);
  EXPECT_TRUE(text.starts_with("error: begins xxx"));
  EXPECT_TRUE(text.ends_with("xxx the remedy"));
}

TEST(suggestion, proposes_the_nearest_or_lists_a_few_known_words) {
  EXPECT_EQ(suggestion("netwrok", kinds), " (did you mean 'network'?)");
  EXPECT_EQ(suggestion("zebra", {"off", "stage"}), " (known: off, stage)");
  EXPECT_EQ(suggestion("zebra", kinds, 4), "") << "a long list";
  EXPECT_EQ(suggestion("zebra", {}), "");
}

TEST(source_text, gives_lines_without_their_ends) {
  const source_text source("a", "\xef\xbb\xbfone\r\ntwo\n\nfour\n");
  EXPECT_EQ(source.line(0), "");
  EXPECT_EQ(source.line(1), "one");
  EXPECT_EQ(source.line(2), "two");
  EXPECT_EQ(source.line(3), "");
  EXPECT_EQ(source.line(4), "four");
  EXPECT_EQ(source.line(5), "");
  EXPECT_EQ(source.line(6), "");
}

TEST(place, is_nowhere_unless_it_has_a_source) {
  EXPECT_FALSE(place());
  EXPECT_TRUE(place{std::make_shared<source_text>("a", "")});
}

}  // namespace
}  // namespace graphline
