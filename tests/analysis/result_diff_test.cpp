#include "framework/analysis/diff/result_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace graphline {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(figure_change, is_relative_to_what_was_before) {
  EXPECT_THAT((figure_change{{150.0, 85.0}}.relative()), Optional(DoubleNear(-0.433333, 1e-6)));
  EXPECT_THAT((figure_change{{80.0, 80.0}}.relative()), Optional(0.0));
}

TEST(figure_change, has_no_relative_change_of_nothing_or_the_unknown) {
  EXPECT_EQ((figure_change{{0.0, 5.0}}.relative()), std::nullopt);
  EXPECT_EQ((figure_change{{std::nullopt, 5.0}}.relative()), std::nullopt);
  EXPECT_EQ((figure_change{{5.0, std::nullopt}}.relative()), std::nullopt);
}

TEST(fact_differences, leave_out_what_is_equal) {
  const saved_facts facts = {{"strategy", "async"}, {"frames", "45"}};
  EXPECT_THAT(differences(facts, facts), IsEmpty());
}

TEST(fact_differences, hold_what_changed_then_what_only_the_second_has) {
  const auto found = differences({{"strategy", "async"}, {"frames", "45"}, {"old", "1"}},
                                 {{"new", "2"}, {"frames", "45"}, {"strategy", "overlap"}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "strategy");
  EXPECT_THAT(found[0].texts.before, Optional(std::string("async")));
  EXPECT_THAT(found[0].texts.after, Optional(std::string("overlap")));
  EXPECT_EQ(found[1].name, "old");
  EXPECT_EQ(found[1].texts.after, std::nullopt);
  EXPECT_EQ(found[2].name, "new");
  EXPECT_EQ(found[2].texts.before, std::nullopt);
}

}  // namespace
}  // namespace graphline
