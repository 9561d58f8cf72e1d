#include "framework/analysis/diff/source_diff.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace graphline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Formats each change as "FILE:LINE: BEFORE -> AFTER", with "-" for an empty side.
std::vector<std::string> changes(const std::vector<source_record>& before,
                                 const std::vector<source_record>& after) {
  std::vector<std::string> result;
  for (const auto& [name, texts] : differences(before, after)) {
    result.push_back(
        fmt::format("{}: {} -> {}", name, texts.before.value_or("-"), texts.after.value_or("-")));
  }
  return result;
}

std::vector<std::string> changes(const std::string& before, const std::string& after) {
  return changes({{"in/p.yaml", before}}, {{"renamed.yaml", after}});
}

TEST(source_differences, show_lines_that_were_changed_added_and_removed) {
  const std::string text = "pipeline: p\nstages:\n  - a: 1\n  - b: 2\nrun: {}\n";
  EXPECT_THAT(changes(text, "pipeline: p\nstages:\n  - a: 3\n  - b: 2\nrun: {}\n"),
              ElementsAre("p.yaml:3: - a: 1 -> - a: 3"));
  EXPECT_THAT(changes(text, "pipeline: p\nstages:\n  - a: 1\n  - c: 5\n  - b: 2\nrun: {}\n"),
              ElementsAre("p.yaml:4: - -> - c: 5"));
  EXPECT_THAT(changes(text, "pipeline: p\nstages:\n  - b: 2\nrun: {}\nx: 1"),
              ElementsAre("p.yaml:3: - a: 1 -> -", "p.yaml:5: - -> x: 1"));
  EXPECT_THAT(changes(text, ""), ElementsAre("p.yaml:1: pipeline: p -> -", "p.yaml:2: stages: -> -",
                                             "p.yaml:3: - a: 1 -> -", "p.yaml:4: - b: 2 -> -",
                                             "p.yaml:5: run: {} -> -"));
}

TEST(source_differences, pair_unmatched_lines) {
  EXPECT_THAT(changes("a\nb\nc\nz\n", "a\nB\nC\nD\nz\n"),
              ElementsAre("p.yaml:2: b -> B", "p.yaml:3: c -> C", "p.yaml:4: - -> D"));
}

TEST(source_differences, are_none_in_comments_and_white_space) {
  EXPECT_THAT(changes("a: 1\nb: 2\n", "# one\na: 1  \r\n\n  b: 2"), IsEmpty());
}

TEST(source_differences, match_further_files_by_name) {
  EXPECT_THAT(
      changes(
          {{"old/e.yaml", "trials: 5\n"}, {"old/p.yaml", "a: 3\n"}},
          {{"new/f.yaml", "trials: 8\n"}, {"new/p.yaml", "a: 4\n"}, {"new/third.yaml", "a: 3\n"}}),
      ElementsAre("e.yaml:1: trials: 5 -> trials: 8", "p.yaml:1: a: 3 -> a: 4",
                  "third.yaml: - -> new/third.yaml"));
}

}  // namespace
}  // namespace graphline
