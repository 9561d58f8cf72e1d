#include "framework/analysis/diff/calibration_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace graphline {
namespace {

using ::testing::Optional;

ceiling_figure read_at(double value, double worst, double best) {
  return {ceiling::read, precision::float32, value, worst, best};
}

calibration_diff diff_of(std::vector<ceiling_figure> before, std::vector<ceiling_figure> after) {
  return compare(saved_calibration{{}, std::move(before), false},
                 saved_calibration{{}, std::move(after), false});
}

std::optional<bool> beyond(const ceiling_figure& before, const ceiling_figure& after) {
  return diff_of({before}, {after}).ceilings.at(0).beyond_spread();
}

TEST(calibration_diff, says_whether_a_bandwidth_changed_by_more_than_its_spread) {
  EXPECT_THAT(beyond(read_at(100, 95, 104), read_at(107, 103, 110)), Optional(false));
  EXPECT_THAT(beyond(read_at(100, 95, 104), read_at(110, 105, 112)), Optional(true));
  EXPECT_THAT(beyond(read_at(110, 105, 112), read_at(100, 95, 104)), Optional(true));
}

TEST(calibration_diff, knows_that_a_duration_is_best_where_it_is_shortest) {
  const auto launch = [](double value, double worst, double best) {
    return ceiling_figure{ceiling::launch, precision::float32, value, worst, best};
  };
  EXPECT_THAT(beyond(launch(100, 110, 95), launch(104, 106, 102)), Optional(false));
  EXPECT_THAT(beyond(launch(100, 110, 95), launch(90, 94, 88)), Optional(true));
}

TEST(calibration_diff, pairs_ceilings_by_what_they_are_and_their_precision) {
  const ceiling_figure half = {ceiling::matmul, precision::float16, 8, 8, 8};
  const ceiling_figure single = {ceiling::matmul, precision::float32, 4, 4, 4};
  const auto diff = diff_of({single, read_at(1, 1, 1)}, {half, single});
  ASSERT_EQ(diff.ceilings.size(), 3U);
  EXPECT_EQ(diff.ceilings[0].what, ceiling::read);
  EXPECT_EQ(diff.ceilings[0].figures.after, std::nullopt);
  EXPECT_EQ(diff.ceilings[0].beyond_spread(), std::nullopt);
  EXPECT_EQ(diff.ceilings[1].arithmetic, precision::float32);
  EXPECT_THAT(diff.ceilings[1].value().relative(), Optional(0.0));
  EXPECT_EQ(diff.ceilings[2].arithmetic, precision::float16);
  EXPECT_EQ(diff.ceilings[2].figures.before, std::nullopt);
}

TEST(calibration_diff, tells_how_ceilings_were_measured_where_both_have_them_and_it_differs) {
  saved_calibration before;
  before.origin.settings = {{"memory, read", "1 GiB"},
                            {"convolution, float16", "large"},
                            {"matrix product, float32", "[2, 2]"}};
  saved_calibration after;
  after.origin.settings = {{"memory, read", "2 GiB"}, {"matrix product, float32", "[2, 2]"}};
  const auto diff = compare(before, after);
  ASSERT_EQ(diff.origin.settings.size(), 1U);
  EXPECT_EQ(diff.origin.settings[0].name, "memory, read");
  EXPECT_THAT(diff.origin.settings[0].texts.after, Optional(std::string("2 GiB")));
}

}  // namespace
}  // namespace graphline
