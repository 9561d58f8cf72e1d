#include "framework/analysis/experiment/experiment_labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/made_experiments.hpp"

namespace graphline {
namespace {

using samples::made_experiment;
using samples::made_of;
using ::testing::ElementsAre;

TEST(experiment_labels, omit_shared_assignments) {
  const auto record = made_experiment("e",
                                      {made_of({{"timing", "none"}, {"in_flight", "2"}}),
                                       made_of({{"timing", "sync"}, {"in_flight", "2"}})},
                                      1);
  const experiment_labels labels(record.configurations);
  EXPECT_THAT(labels.keys(), ElementsAre("timing"));
  EXPECT_THAT(labels.values(1), ElementsAre("sync"));
  EXPECT_EQ(labels.of(1), "timing=sync");
}

TEST(experiment_labels, quote_user_defined_names) {
  const auto record =
      made_experiment("e", {{"one by one", {{"strategy", "serial"}}}, {"at once"}}, 1);
  const experiment_labels labels(record.configurations);
  EXPECT_TRUE(labels.named());
  EXPECT_THAT(labels.keys(), ElementsAre("strategy"));
  EXPECT_THAT(labels.values(1), ElementsAre(""));
  EXPECT_EQ(labels.of(0), "'one by one'");
}

std::vector<experiment_configuration> grid(std::size_t waits, const std::string& depth) {
  std::vector<experiment_configuration> all;
  for (std::size_t i = 0; i < waits; ++i) {
    for (const auto& value : {std::string("1"), depth}) {
      const auto wait = std::to_string(i);
      all.push_back(
          {"wait=" + wait + " depth=" + value, {{"wait", wait}, {"depth", value}}, {"p"}});
    }
  }
  return all;
}

TEST(experiment_labels, are_ids_where_names_are_long_or_many) {
  EXPECT_FALSE(experiment_labels(grid(3, "1234567890123")).by_id());  // 26 columns
  EXPECT_TRUE(experiment_labels(grid(3, "12345678901234")).by_id());
  const auto many = grid(4, "2");
  const experiment_labels labels(many);
  EXPECT_TRUE(labels.by_id());
  EXPECT_EQ(labels.of(7), "c8");
  EXPECT_EQ(labels.list({{0, 0}, {6, 0}}), "c1 and c7");
  // A single varying setting distinguishes them in few columns.
  EXPECT_FALSE(experiment_labels(grid(7, "1")).by_id());
}

TEST(experiment_labels, list_names_with_commas_and_and) {
  const auto record = made_experiment(
      "e", {made_of({{"w", "1"}}), made_of({{"w", "2"}}), made_of({{"w", "3"}})}, 1);
  const experiment_labels labels(record.configurations);
  EXPECT_EQ(labels.list({{0, 0}}), "w=1");
  EXPECT_EQ(labels.list({{0, 0}, {2, 0}}), "w=1 and w=3");
  EXPECT_EQ(labels.list(labels.all()), "all configurations");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(listed({"a", "b", "c", "d", "e"}, 4), "a, b, c, d and e");
  EXPECT_EQ(listed({"a", "b", "c", "d", "e", "f"}, 4), "a, b, c, d and 2 more");
}

}  // namespace
}  // namespace graphline
