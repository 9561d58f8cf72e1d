// Texts made to break a reader: each must be read or explained, in bounded time and stack. The fuzz
// target `pipeline` tries random ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

std::string said_about(const std::string& text) {
  return read_pipeline_text(text).said.render(3);
}

/// A list of `times + 1` copies of `item`.
std::string list_of(const std::string& item, std::size_t times) {
  return "[" + repeated(item + ", ", times) + item + "]";
}

TEST(repetition, is_refused_beyond_what_a_file_may_become) {
  const auto with = [](const std::string& params, const std::string& value) {
    return said_about("pipeline: p\n" + params + "\nstages:\n  - {name: s, kind: k, a: " + value +
                      "}\n");
  };
  const std::string list = "params: {a: " + list_of("1", 10'000) + "}";
  const std::string text = "params: {a: " + repeated("x", 1'000'000) + "}";
  constexpr const char* parameters = "values or 32 MiB of text, what parameters repeat among them";
  EXPECT_THAT(with(list, list_of("$a", 2'500)), HasSubstr(parameters));
  EXPECT_THAT(with(text, list_of("$a", 2'500)), HasSubstr(parameters));
  EXPECT_THAT(with("x-a: &a " + repeated("x", 1'000'000), list_of("*a", 2'500)),
              HasSubstr("values or 32 MiB of text, what aliases repeat among them"));
  EXPECT_EQ(with(list, list_of("$a", 8)), "");
  EXPECT_EQ(with(text, list_of("$a", 30)), "");
}

TEST(message, is_short_however_long_a_value) {
  const auto said = said_about("pipeline: p\nparams: {a: " + repeated("x", 4'000'000) +
                               "}\nstages: $a\nrun: {frames: $a, strategy: $a}\n");
  EXPECT_LT(said.size(), 10'000U);
}

TEST(nesting, is_refused_beyond_64_levels_in_every_form_of_yaml) {
  constexpr std::size_t many = 100'000;
  const std::string forms[] = {
      repeated("[", many),
      repeated("[", many) + repeated("]", many),
      repeated("{", many),
      repeated("{a: ", many) + repeated("}", many),
      repeated("- ", many),
      repeated("? ", many),
      repeated("- ? ", many),
      repeated("[a: ", many),
      "pipeline: " + repeated("[", 10'000) + "\n" + repeated("]", 10'000),
  };
  for (const std::string& text : forms) {
    EXPECT_THAT(said_about(text), HasSubstr("nested deeper than 64 levels")) << text.substr(0, 20);
  }
}

TEST(nesting, is_refused_beyond_64_levels_of_indentation) {
  std::string keys;
  std::string lists;
  for (std::size_t depth = 0; depth < 2000; ++depth) {
    keys += std::string(depth, ' ') + "a:\n";
    lists += std::string(depth, ' ') + "-\n";
  }
  EXPECT_THAT(said_about(keys), HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(said_about(lists), HasSubstr("nested deeper than 64 levels"));
}

TEST(nesting, is_refused_beyond_64_levels_through_aliases) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 10'000; ++i) {
    const std::string n = std::to_string(i);
    text += "a" + n + ": &a" + n + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_THAT(said_about(text), HasSubstr("nested deeper than 64 levels"));
}

TEST(nesting, of_64_levels_is_read) {
  const std::string text = "pipeline: " + repeated("[", 63) + repeated("]", 63);
  EXPECT_THAT(said_about(text), HasSubstr("'pipeline' must be text, found a list"));
}

TEST(values, are_refused_beyond_a_hundred_thousand) {
  EXPECT_THAT(said_about("[" + repeated("1,", 110'000) + "]"),
              HasSubstr("more than 100000 values"));
}

TEST(many_errors, are_counted_and_not_all_shown) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text.append("k").append(std::to_string(i)).append(": 1\n");
  EXPECT_THAT(said_about(text), HasSubstr("... and 19999 more"));  // and the two missing keys
}

TEST(an_enormous_word, is_cut_in_messages) {
  const std::string word(1'000'000, 'x');
  const std::string said =
      said_about("pipeline: p\nstages:\n  - {name: " + word + ", kind: copy}\nrun: " + word + "\n");
  EXPECT_THAT(said, HasSubstr("xxx...'"));
  EXPECT_LT(said.size(), 2000U);
}

TEST(a_text, with_nul_bytes_is_binary) {
  EXPECT_EQ(said_about(std::string("pipeline: \0x", 12)),
            "test.yaml: error: this is a binary file, not YAML");
}

TEST(a_text, that_is_not_utf8_is_refused_at_its_byte) {
  EXPECT_EQ(said_about("pipeline: p\ndescription: gr\xf6\xdf"
                       "e\n"),
            "test.yaml:2:16: error: the byte 0xf6 is not UTF-8; save the file as UTF-8\n"
            "    2 | description: gr??e\n"
            "      |                ^");
}

TEST(a_text, with_control_characters_is_refused_at_the_first) {
  EXPECT_EQ(said_about("pipeline: a\x04"
                       "b\x1b\n"),
            "test.yaml:1:12: error: the control character 0x04 cannot stand in YAML\n"
            "    1 | pipeline: a?b?\n"
            "      |            ^");
  EXPECT_THAT(said_about("pipeline: p\rstages: []\r"),
              HasSubstr("test.yaml:1:12: error: a carriage return without a line feed"));
}

/// Reads a text and renders its diagnostics without an exception or crash.
void read_and_render(const std::string& text) {
  const reading r = read_pipeline_text(text);
  const std::string said = r.said.render();
  EXPECT_EQ(r.said.all().empty(), said.empty());
}

const char* const files_to_damage[] = {"two_models", "every_setting", "merges_and_anchors"};

TEST(a_damaged_file, cut_off_anywhere_is_read_or_explained) {
  for (const std::string name : files_to_damage) {
    const std::string text = file_text(GRAPHLINE_TEST_DIR "/good/" + name + ".yaml");
    for (std::size_t length = 0; length < text.size(); ++length) {
      SCOPED_TRACE(name + " cut to " + std::to_string(length) + " bytes");
      ASSERT_NO_THROW(read_and_render(text.substr(0, length)));
    }
  }
}

}  // namespace
}  // namespace graphline
