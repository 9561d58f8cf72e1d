#include "framework/analysis/run_analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::ms;
using samples::one_after_another;
using ::testing::Optional;

TEST(run_analysis, holds_the_run_against_its_roofline_by_the_path_of_its_frames) {
  auto made = one_after_another({{"net", 1 * ms}, {"head", 3 * ms}});
  for (auto& stage : made.record.stages) stage.cost = samples::work(1'000, 1'000'000);
  const auto analysis = analyse(made.record);
  EXPECT_EQ(analysis.summary.end_to_end->count(), 5U);
  ASSERT_TRUE(analysis.attribution && analysis.roofline);
  EXPECT_EQ(analysis.attribution->median_frame, attribute(made.record)->median_frame);
  const auto alone = hold_against_roofline(made.record);
  EXPECT_EQ(analysis.roofline->by_gain, alone->by_gain);
  EXPECT_THAT(analysis.roofline->by_gain, ::testing::ElementsAre(1, 0));
  EXPECT_EQ(analysis.roofline->stages[1].share_of_path, alone->stages[1].share_of_path);
}

TEST(run_analysis, knows_neither_path_nor_roofline_of_a_run_without_them) {
  auto made = one_after_another({{"net", 1 * ms}});
  made.record.calibration.reset();
  made.record.run.timing = timing_method::none;
  const auto analysis = analyse(made.record);
  EXPECT_FALSE(analysis.attribution);
  EXPECT_FALSE(analysis.roofline);
}

TEST(median_cpu_time, is_absent_where_there_are_too_few_times_for_it) {
  stage_record stage;
  EXPECT_EQ(median_cpu_time(stage), std::nullopt);
  stage.cpu = {{0, 3}, {10, 11}, {20, 22}, {30, 34}};
  EXPECT_EQ(median_cpu_time(stage), std::nullopt);
  stage.cpu.push_back({40, 41});
  EXPECT_THAT(median_cpu_time(stage), Optional(2));
}

}  // namespace
}  // namespace graphline
