#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"

namespace graphline {
namespace {

const std::vector<std::string> kinds = {"network", "copy", "matmul", "cpu.spin", "cpu.top_k"};

TEST(nearest, finds_a_word_one_edit_away) {
  EXPECT_EQ(nearest("netwrok", kinds), "network");   // neighbours swapped
  EXPECT_EQ(nearest("networ", kinds), "network");    // one left out
  EXPECT_EQ(nearest("nettwork", kinds), "network");  // one too many
  EXPECT_EQ(nearest("matmal", kinds), "matmul");     // one replaced
  EXPECT_EQ(nearest("asinc", {"serial", "async", "overlap"}), "async");
}

TEST(nearest, takes_case_and_hyphens_for_slips_of_no_weight) {
  EXPECT_EQ(nearest("NETWORK", kinds), "network");
  EXPECT_EQ(nearest("in-flight", {"frames", "in_flight"}), "in_flight");
  EXPECT_EQ(nearest("CPU.TOP-K", kinds), "cpu.top_k");
}

TEST(nearest, prefers_the_fewest_edits_and_then_the_first) {
  EXPECT_EQ(nearest("frame", {"framing", "frames"}), "frames");
  EXPECT_EQ(nearest("mast", {"cast", "past"}), "cast");
}

TEST(nearest, finds_nothing_far_away) {
  EXPECT_EQ(nearest("transformer", kinds), "");
  EXPECT_EQ(nearest("cpu", kinds), "");
  EXPECT_EQ(nearest("frame", {"off", "stage"}), "");
}

TEST(nearest, allows_no_edits_in_words_of_three_letters) {
  EXPECT_EQ(nearest("gpu", {"device", "cpu"}), "");
  EXPECT_EQ(nearest("CPU", {"device", "cpu"}), "cpu");
  EXPECT_EQ(nearest("", {"cpu", ""}), "");
}

TEST(nearest, is_quick_with_an_enormous_word) {
  EXPECT_EQ(nearest(std::string(10'000'000, 'x'), kinds), "");
}

TEST(suggestion, proposes_the_nearest) {
  EXPECT_EQ(suggestion("netwrok", kinds), " (did you mean 'network'?)");
}

TEST(suggestion, lists_a_few_known_words_when_none_is_near) {
  EXPECT_EQ(suggestion("zebra", {"off", "stage"}), " (known: off, stage)");
}

TEST(suggestion, keeps_quiet_about_long_lists_and_empty_ones) {
  EXPECT_EQ(suggestion("zebra", kinds, 4), "");
  EXPECT_EQ(suggestion("zebra", {}), "");
}

}  // namespace
}  // namespace graphline
