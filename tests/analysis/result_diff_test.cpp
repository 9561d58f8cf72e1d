#include "framework/analysis/diff/result_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace graphline {
namespace {

using output_is = output_change::finding;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Optional;

saved_stage stage(std::string name, measure what, std::vector<nanoseconds> times) {
  return {std::move(name), what, distribution::of(std::move(times))};
}

saved_output output(std::string checksum, std::vector<std::optional<double>> values = {}) {
  return {.tensor = "y",
          .dtype = "float32",
          .shape = {1, 3},
          .checksum = std::move(checksum),
          .finite = true,
          .values = std::move(values)};
}

output_change change_of(const saved_output& before, const saved_output& after) {
  saved_run a;
  saved_run b;
  a.outputs = {before};
  b.outputs = {after};
  return compare(a, b).outputs.at(0);
}

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

TEST(run_diff, compares_percentiles_that_both_samples_carry) {
  saved_run before;
  saved_run after;
  before.end_to_end = distribution::of(std::vector<nanoseconds>(30, 1000));
  after.end_to_end = distribution::of(std::vector<nanoseconds>(10, 500));
  const auto diff = compare(before, after);
  EXPECT_THAT(diff.percentile(0.5).relative(), Optional(-0.5));
  EXPECT_THAT(diff.percentile(0.9).before, Optional(1000.0));
  EXPECT_EQ(diff.percentile(0.9).after, std::nullopt);
  EXPECT_THAT(diff.mean().relative(), Optional(-0.5));
}

TEST(run_diff, counts_missed_deadlines_as_a_part_of_the_frames) {
  saved_run before;
  saved_run after;
  before.end_to_end = distribution::of(std::vector<nanoseconds>(20, 1000));
  before.missed_deadline = 5;
  after.end_to_end = distribution::of(std::vector<nanoseconds>(10, 1000));
  after.missed_deadline = 1;
  EXPECT_THAT(compare(before, after).missed.before, Optional(0.25));
  EXPECT_THAT(compare(before, after).missed.after, Optional(0.1));
  after.missed_deadline.reset();
  EXPECT_EQ(compare(before, after).missed.after, std::nullopt);
}

TEST(run_diff, puts_stages_together_by_name) {
  saved_run before;
  saved_run after;
  before.stages = {stage("a", measure::device_time, {10, 20, 30}),
                   stage("b", measure::cpu_time, {5})};
  after.stages = {stage("c", measure::cpu_time, {7}), stage("a", measure::device_time, {10})};
  const auto diff = compare(before, after);
  EXPECT_THAT(diff.stages,
              ElementsAre(Field(&stage_change::name, "a"), Field(&stage_change::name, "b"),
                          Field(&stage_change::name, "c")));
  EXPECT_THAT(diff.stages[0].median().relative(), Optional(-0.5));
  EXPECT_TRUE(diff.stages[0].same_measure());
  EXPECT_FALSE(diff.stages[1].stages.after);
  EXPECT_FALSE(diff.stages[2].stages.before);
}

TEST(run_diff, knows_that_times_of_two_kinds_do_not_compare) {
  saved_run before;
  saved_run after;
  before.stages = {stage("a", measure::enqueue_time, {10})};
  after.stages = {stage("a", measure::device_time, {10})};
  EXPECT_FALSE(compare(before, after).stages[0].same_measure());
}

TEST(run_diff, takes_outputs_of_one_checksum_for_the_same) {
  EXPECT_EQ(change_of(output("00"), output("00")).found, output_is::same);
}

TEST(run_diff, says_by_how_much_outputs_differ) {
  const auto change = change_of(output("00", {1.0, -4.0, 2.0}), output("01", {1.0, -4.5, 2.25}));
  EXPECT_EQ(change.found, output_is::differs);
  EXPECT_EQ(change.compared, 3U);
  EXPECT_THAT(change.largest, Optional(0.5));
  EXPECT_THAT(change.relative, Optional(DoubleNear(0.5 / 4.5, 1e-12)));
}

TEST(run_diff, compares_no_values_that_are_not_numbers_or_are_not_of_the_same_elements) {
  const auto nan = change_of(output("00", {std::nullopt, 2.0}), output("01", {3.0, 2.0}));
  EXPECT_EQ(nan.compared, 1U);
  EXPECT_THAT(nan.largest, Optional(0.0));
  EXPECT_EQ(change_of(output("00", {1.0}), output("01", {1.0, 2.0})).largest, std::nullopt);
  EXPECT_EQ(change_of(output("00"), output("01")).largest, std::nullopt);
  EXPECT_EQ(change_of(output("00", {0.0}), output("01", {0.0})).relative, std::nullopt);
}

TEST(run_diff, does_not_compare_outputs_of_another_type) {
  auto other = output("00");
  other.shape = {2, 3};
  EXPECT_EQ(change_of(output("00"), other).found, output_is::other_type);
  other = output("00");
  other.dtype = "float16";
  EXPECT_EQ(change_of(output("00"), other).found, output_is::other_type);
}

TEST(run_diff, names_outputs_that_only_one_run_has) {
  saved_run before;
  saved_run after;
  before.outputs = {output("00")};
  EXPECT_EQ(compare(before, after).outputs.at(0).found, output_is::only_before);
  EXPECT_EQ(compare(after, before).outputs.at(0).found, output_is::only_after);
}

}  // namespace
}  // namespace graphline
