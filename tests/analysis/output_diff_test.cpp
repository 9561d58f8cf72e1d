#include "framework/analysis/diff/output_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace graphline {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

output_record output(std::string checksum, std::vector<double> values = {}) {
  return {.tensor = "y",
          .type = {{1, 3}, dtype::float32},
          .checksum = std::move(checksum),
          .values = std::move(values)};
}

output_change change_of(const output_record& before, const output_record& after) {
  return compare(std::vector{before}, std::vector{after}).at(0);
}

TEST(output_diff, considers_equal_checksums_equal) {
  EXPECT_EQ(change_of(output("00"), output("00")).found, output_fate::same);
}

TEST(output_diff, computes_the_largest_difference) {
  const auto change = change_of(output("00", {1.0, -4.0, 2.0}), output("01", {1.0, -4.5, 2.25}));
  EXPECT_EQ(change.found, output_fate::differs);
  EXPECT_EQ(change.compared, 3U);
  EXPECT_THAT(change.largest, Optional(0.5));
  EXPECT_THAT(change.relative, Optional(DoubleNear(0.5 / 4.5, 1e-12)));
}

TEST(output_diff, compares_the_rows_of_the_last_frame) {
  const auto with_rows = [](std::optional<std::int64_t> rows, std::string checksum) {
    auto made = output(std::move(checksum));
    made.rows = rows;
    return made;
  };
  const auto found = [&](std::optional<std::int64_t> before, std::optional<std::int64_t> after,
                         std::string checksum_after) {
    return change_of(with_rows(before, "00"), with_rows(after, std::move(checksum_after))).found;
  };
  EXPECT_EQ(found(2, 2, "00"), output_fate::same);
  EXPECT_EQ(found(2, 2, "01"), output_fate::differs);
  EXPECT_EQ(found(2, 3, "00"), output_fate::other_rows);
  EXPECT_EQ(found(0, 0, "01"), output_fate::same);  // both were skipped or have no rows
  EXPECT_EQ(found(0, 1, "00"), output_fate::other_rows);
  EXPECT_EQ(found({}, 1, "00"), output_fate::other_rows);
}

TEST(output_diff, compares_only_finite_values_of_the_same_elements) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto change = change_of(output("00", {nan, 2.0}), output("01", {3.0, 2.0}));
  EXPECT_EQ(change.compared, 1U);
  EXPECT_THAT(change.largest, Optional(0.0));
  EXPECT_EQ(change_of(output("00", {1.0}), output("01", {1.0, 2.0})).largest, std::nullopt);
  EXPECT_EQ(change_of(output("00"), output("01")).largest, std::nullopt);
  EXPECT_EQ(change_of(output("00", {0.0}), output("01", {0.0})).relative, std::nullopt);
}

TEST(output_diff, does_not_compare_outputs_of_another_type) {
  auto other = output("00");
  other.type = {{2, 3}, dtype::float32};
  EXPECT_EQ(change_of(output("00"), other).found, output_fate::other_type);
  other.type = {{1, 3}, dtype::float16};
  EXPECT_EQ(change_of(output("00"), other).found, output_fate::other_type);
}

TEST(output_diff, names_outputs_that_only_one_run_has) {
  EXPECT_EQ(compare({output("00")}, {}).at(0).found, output_fate::only_before);
  EXPECT_EQ(compare({}, {output("00")}).at(0).found, output_fate::only_after);
}

}  // namespace
}  // namespace graphline
