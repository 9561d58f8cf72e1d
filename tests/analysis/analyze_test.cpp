#include "framework/analysis/analyze.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::ms;
using samples::one_after_another;

TEST(run_analysis, compares_the_run_with_its_roofline_along_the_critical_path) {
  auto made = one_after_another({{"net", 1 * ms}, {"head", 3 * ms}});
  for (auto& stage : made.record.stages) stage.cost = samples::work(1'000, 1'000'000);
  const auto analysis = analyze(made.record);
  EXPECT_EQ(analysis.summary.end_to_end->count(), 5U);
  ASSERT_TRUE(analysis.attribution && analysis.roofline);
  EXPECT_EQ(analysis.attribution->median_frame, attribute(made.record)->median_frame);
  const auto alone = evaluate_roofline(made.record);
  EXPECT_EQ(analysis.roofline->by_gain, alone->by_gain);
  EXPECT_THAT(analysis.roofline->by_gain, ::testing::ElementsAre(1, 0));
  EXPECT_EQ(analysis.roofline->stages[1].share_of_path, alone->stages[1].share_of_path);
}

TEST(run_analysis, attributes_the_time_from_begin_to_end_if_latency_grows) {
  auto record = samples::overloaded_two_models(300);
  record.frames.back().end += 6 * ms;
  const auto where = *analyze(record).attribution;
  EXPECT_EQ(where.why_no_queue, "overloaded: latency grows with the run's length");
  EXPECT_DOUBLE_EQ(where.end_to_end.all, 74.02 * ms);
  EXPECT_DOUBLE_EQ(where.end_to_end.typical, 74.0 * ms);
  EXPECT_DOUBLE_EQ(where.end_to_end.slowest, 76.0 * ms);  // three frames, one of them of 80 ms
  double sum = where.residual.all;
  for (const auto& row : where.rows) {
    EXPECT_NE(row.what, time_category::queue_wait);
    sum += row.all;
  }
  EXPECT_NEAR(sum, 74.02 * ms, 1);
  EXPECT_EQ(where.median_frame, attribute(record)->median_frame);
  const auto kept = *analyze(samples::two_models_on_schedule(45)).attribution;
  EXPECT_EQ(kept.why_no_queue, "");
  EXPECT_EQ(kept.rows.front().what, time_category::queue_wait);
}

}  // namespace
}  // namespace graphline
