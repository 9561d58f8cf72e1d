#include "framework/report/sentences.hpp"

#include <gtest/gtest.h>

namespace graphline::report {
namespace {

finding far_away() {
  return finding{"far_from_roofline", finding_severity::note, {"net"}, {}}
      .with("measured", quantity{200e6, unit::duration})
      .with("bound", std::string("memory"))
      .with("roofline_time", quantity{250e3, unit::duration})
      .with("ratio", quantity{800, unit::ratio})
      .with("share_of_critical_path", quantity{0.9, unit::share});
}

TEST(sentence, has_the_figures_in_their_units) {
  EXPECT_EQ(sentence(far_away()),
            "look at 'net' first: measured 200 ms, memory bound 250 us, 800x roofline; 90 % of the "
            "critical path");
}

TEST(sentence, leaves_out_what_is_not_known) {
  auto found = far_away();
  found.with("part", std::string("1.gelu")).with("part_measured", quantity{590e3, unit::duration});
  EXPECT_EQ(sentence(found), sentence(far_away())) << "not all of the clause is known";
  found.with("part_bound", std::string("memory"));
  found.with("part_roofline_time", quantity{100e3, unit::duration});
  EXPECT_TRUE(
      sentence(found).ends_with("; most of the excess of its parts is in '1.gelu': measured "
                                "590 us, memory bound 100 us"));
}

TEST(sentence, lists_subjects_and_agrees_with_their_number) {
  const auto near = [](std::vector<std::string> names) {
    return sentence(finding{"near_roofline", finding_severity::note, std::move(names), {}}.with(
        "ratio", quantity{1.1, unit::ratio}));
  };
  EXPECT_TRUE(near({"x"}).starts_with("'x' is within 1.10x roofline")) << near({"x"});
  EXPECT_TRUE(near({"x", "y"}).starts_with("'x' and 'y' are within"));
  EXPECT_TRUE(near({"a", "b", "c", "d"}).starts_with("'a', 'b', 'c' and 'd' are"));
  EXPECT_TRUE(near({"a", "b", "c", "d", "e"}).starts_with("'a', 'b', 'c' and 2 more are"));
}

TEST(sentence, of_a_warning_that_a_run_wrote_down_is_its_text) {
  EXPECT_EQ(sentence(finding{"", finding_severity::warning, {}, {}}.with("text", std::string("x"))),
            "x");
}

TEST(sentence, of_a_finding_without_words_is_its_key) {
  EXPECT_EQ(sentence(finding{"new_key", finding_severity::note, {}, {}}), "new_key");
  EXPECT_EQ(sentence(finding{"near_roofline", finding_severity::note, {"x"}, {}}), "near_roofline");
}

}  // namespace
}  // namespace graphline::report
