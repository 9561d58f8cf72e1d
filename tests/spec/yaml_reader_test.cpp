#include "framework/spec/yaml_reader.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace graphline {
namespace {

/// Reads a text without diagnostics.
node read_fine(const std::string& text) {
  diagnostics out;
  node n = read_yaml(std::make_shared<const source_text>("t", text), out);
  EXPECT_EQ(out.render(), "");
  return n;
}

/// "LINE:COLUMN+LENGTH" of a place.
std::string where(const place& p) {
  return std::to_string(p.line) + ":" + std::to_string(p.column) + "+" + std::to_string(p.length);
}
std::string where(const node& n) {
  return where(n.where());
}

TEST(read_yaml, tells_quoted_scalars_from_plain_ones) {
  const node n = read_fine("[a, 'b', \"c\", !!str 5, 6]");
  ASSERT_EQ(n.items().size(), 5U);
  EXPECT_FALSE(n.items()[0].quoted());
  EXPECT_TRUE(n.items()[1].quoted());
  EXPECT_TRUE(n.items()[2].quoted());
  EXPECT_TRUE(n.items()[3].quoted());
  EXPECT_FALSE(n.items()[4].quoted());
}

/// The first diagnostic of a text, with its line and column.
std::string complaint_about(const std::string& text) {
  diagnostics out;
  read_yaml(std::make_shared<const source_text>("t", text), out);
  if (out.all().empty()) return "";
  const diagnostic& first = out.all().front();
  return std::to_string(first.place.line) + ":" + std::to_string(first.place.column) + ": " +
         first.message;
}

TEST(read_yaml, names_what_looks_like_a_space_or_like_nothing_where_it_breaks_the_structure) {
  const std::pair<std::string, std::string> characters[] = {
      {"\u0085", "U+0085 (next line)"},
      {"\u00a0", "U+00A0 (no-break space)"},
      {"\u00ad", "U+00AD (soft hyphen)"},
      {"\u1680", "U+1680 (ogham space mark)"},
      {"\u2003", "U+2003 (em space)"},
      {"\u2009", "U+2009 (thin space)"},
      {"\u200b", "U+200B (zero width space)"},
      {"\u200d", "U+200D (zero width joiner)"},
      {"\u2028", "U+2028 (line separator)"},
      {"\u202f", "U+202F (narrow no-break space)"},
      {"\u2060", "U+2060 (word joiner)"},
      {"\u3000", "U+3000 (ideographic space)"},
      {"\ufeff", "U+FEFF (zero width no-break space, the byte order mark)"}};
  const struct {
    std::string before;
    std::string behind;
    std::string at;
  } places[] = {
      {"pipeline: p\nstages:\n  - name: a\n    kind:", "network\n", "4:10"},
      {"pipeline: p\nstages:\n  - name: a\n    ", "kind: network\n    duration: 5ms\n", "4:5"},
      {"pipeline: p\nstages:\n  - name: a\n", "   kind: network\n", "4:1"},
      {"pipeline: p\nstages:\n  - name: a\n    kind", ": network\n", "4:9"},
      {"pipeline: p\nstages:\n  -", "name: a\n    kind: network\n", "3:4"},
      {"stages:\n  - {name: a, kind:", "network}\n", "2:20"},
      {"stages:\n  - {name: a,", "kind: network}\n", "2:14"},
      {"stages: [a]\nrun:", "\n  frames: 5\n", "2:5"},
      {"stages: [a]\n", "\nrun: {frames: 5}\n", "2:1"},
  };
  for (const auto& [character, name] : characters) {
    for (const auto& [before, behind, at] : places) {
      const std::string text = before + character + behind;
      EXPECT_EQ(complaint_about(text),
                at + ": the character " + name +
                    " is not a space to YAML; type a plain space or remove it")
          << text;
    }
  }
}

TEST(read_yaml, takes_what_looks_like_a_space_inside_of_texts_and_comments) {
  for (const std::string character : {"\u00a0", "\u200b", "\u3000", "\ufeff"}) {
    const std::string text = "a" + character + "b: c";
    EXPECT_EQ(read_fine("description: two" + character + "nets\n").find("description")->text(),
              "two" + character + "nets");
    EXPECT_EQ(read_fine("a: '" + text + "'\n").find("a")->text(), text);
    EXPECT_EQ(read_fine("a: |\n  " + character + text + "\n").find("a")->text(),
              character + text + "\n");
    read_fine("a: 1  #" + character + "kind:" + character + "x\n#" + character + "\nb: 2\n");
  }
}

TEST(read_yaml, keeps_block_texts_as_text) {
  const node n = read_fine("a: |\n  one\n  two\nb: >\n  one\n  two\n");
  EXPECT_EQ(n.find("a")->text(), "one\ntwo\n");
  EXPECT_TRUE(n.find("a")->quoted());
  EXPECT_EQ(n.find("b")->text(), "one two\n");
}

TEST(read_yaml, takes_null_and_absence_for_nothing_but_not_quoted_null) {
  const node n = read_fine("a: null\nb: ~\nc:\nd: 'null'\ne: ''\n");
  EXPECT_TRUE(n.find("a")->is_null());
  EXPECT_TRUE(n.find("b")->is_null());
  EXPECT_TRUE(n.find("c")->is_null());
  EXPECT_EQ(n.find("d")->text(), "null");
  EXPECT_TRUE(n.find("e")->is_scalar());
}

TEST(read_yaml, reads_a_text_of_one_word_as_it_reads_the_word_in_a_list) {
  for (const std::string word : {"a", "max_1", "20", "1.5", ".5", ".", "true", "null", "Null",
                                 "NULL", "nULL", "nullable", "~", "no", "_", "1e-3", "-1"}) {
    const node alone = read_fine(word);
    const node item = read_fine('[' + word + ']').items().front();
    EXPECT_EQ(alone.form(), item.form()) << word;
    EXPECT_EQ(alone.text(), item.text()) << word;
    if (alone.is_scalar()) {
      EXPECT_EQ(where(alone), "1:1+" + std::to_string(word.size()));
    }
  }
  EXPECT_TRUE(read_fine("...").is_null());
}

TEST(read_yaml, gives_scalars_the_extent_of_their_token) {
  const node n = read_fine("a: word\nb: \"q\\\"d\"  # c\nc: 'it''s'\nd: two words\ne: &x tagged\n");
  EXPECT_EQ(where(*n.find("a")), "1:4+4");
  EXPECT_EQ(where(*n.find("b")), "2:4+6");
  EXPECT_EQ(where(*n.find("c")), "3:4+7");
  EXPECT_EQ(where(*n.find("d")), "4:4+9");
  EXPECT_EQ(where(*n.find("e")), "5:7+6");
}

TEST(read_yaml, marks_a_text_of_several_lines_to_the_end_of_the_first) {
  EXPECT_EQ(where(*read_fine("a: one\n  two\n").find("a")), "1:4+3");
  EXPECT_EQ(where(*read_fine("a: 'one  \n  two'\n").find("a")), "1:4+4");
}

TEST(read_yaml, puts_absent_values_at_their_key_or_dash) {
  const node n = read_fine("a:\nb:\n  - x\n  -\n  - ~\n");
  EXPECT_EQ(where(*n.find("a")), "1:1+1");
  ASSERT_EQ(n.find("b")->items().size(), 3U);
  EXPECT_EQ(where(n.find("b")->items()[1]), "4:3+1");
  EXPECT_EQ(where(n.find("b")->items()[2]), "5:5+1");
}

TEST(read_yaml, gives_keys_their_places) {
  const node n = read_fine("first: 1\n'second': {third: 3}\n");
  EXPECT_EQ(where(n.members()[0].key.place), "1:1+5");
  EXPECT_EQ(where(n.members()[1].key.place), "2:1+8");
  EXPECT_EQ(where(n.members()[1].value.members()[0].key.place), "2:12+5");
}

TEST(read_yaml, lets_a_later_anchor_of_the_same_name_win) {
  const node n = read_fine("a: &x 1\nb: *x\nc: &x 2\nd: *x\n");
  EXPECT_EQ(n.find("b")->text(), "1");
  EXPECT_EQ(n.find("d")->text(), "2");
}

TEST(read_yaml, does_not_merge_a_quoted_key) {
  const node n = read_fine("'<<': {a: 1}\n");
  EXPECT_NE(n.find("<<"), nullptr);
  EXPECT_EQ(n.find("a"), nullptr);
}

TEST(read_yaml, keeps_the_first_of_two_equal_keys) {
  diagnostics out;
  const node n = read_yaml(std::make_shared<const source_text>("t", "a: 1\na: 2\n"), out);
  EXPECT_TRUE(out.has_errors());
  EXPECT_EQ(n.find("a")->text(), "1");
}

TEST(read_yaml, answers_nothing_without_complaint_to_an_empty_text) {
  EXPECT_TRUE(read_fine("").is_null());
  EXPECT_TRUE(read_fine("# only\n\n# comments\n").is_null());
  EXPECT_TRUE(read_fine("---\n").is_null());
}

}  // namespace
}  // namespace graphline
