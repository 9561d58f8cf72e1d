#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/analysis/roofline/roofline.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::five_times;
using samples::in_two_parts;
using samples::made_run;
using samples::ms;
using samples::one_after_another;
using samples::us;
using samples::work;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> findings(const made_run& made, const run_record* layers = nullptr) {
  return samples::texts_of(roofline_findings(made.record, *evaluate_roofline(made.record, layers)));
}

TEST(roofline_findings, list_the_largest_gain_first) {
  auto made = one_after_another({{"product", 200 * ms}, {"copy in", 20 * ms}, {"tail", 1 * ms}});
  made.record.stages[0].cost = work(122'880'000, 250'000'000);
  made.record.stages[1].cost = work(0, 5'000'000'000);
  made.record.stages[2].cost = work(0, 10'000'000);
  EXPECT_THAT(findings(made),
              ElementsAre("far_from_roofline(product) measured=200 ms bound=memory "
                          "roofline_time=250 us ratio=800x share_of_critical_path=90.5 %",
                          StartsWith("also_far_from_roofline(copy in) measured=20.0 ms "
                                     "bound=memory roofline_time=5.00 ms ratio=4.00x ")));
}

TEST(roofline_findings, name_the_dominant_part) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.stages[0].parts[0].device = five_times(410 * us);
  layers.stages[0].parts[1].device = five_times(590 * us);
  EXPECT_THAT(findings(made, &layers),
              Contains(AllOf(StartsWith("far_from_roofline(net) measured=1.00 ms "),
                             EndsWith(" part=1.gelu part_measured=590 us part_bound=memory "
                                      "part_roofline_time=100 us"))));
  // Neither accounts for more than half of it: 100 us above each.
  layers.stages[0].parts[0].device = five_times(500 * us);
  layers.stages[0].parts[1].device = five_times(200 * us);
  EXPECT_THAT(findings(made, &layers),
              Contains(AllOf(StartsWith("far_from_roofline"), Not(HasSubstr("part=")))));
}

TEST(roofline_findings, report_launch_bound_stages) {
  auto made = one_after_another({{"small", 40 * us}});
  made.record.stages[0].cost = work(1'000, 1'000'000);
  EXPECT_THAT(findings(made), Contains("launch_bound(small) roofline_time=1.00 us launch=5.00 us"));
  made.record.stages[0].cost = work(1'000, 6'000'000);
  EXPECT_THAT(findings(made), Each(Not(StartsWith("launch_bound"))));
}

TEST(roofline_findings, merge_stages_below_their_roofline) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.stages[0].parts[0].device = five_times(300 * us);
  layers.stages[0].parts[1].device = five_times(50 * us);
  EXPECT_THAT(findings(made, &layers),
              Contains(StartsWith("below_roofline(net/0.conv2d, net/1.gelu) ")));

  auto many = one_after_another({{"a", us}, {"b", us}, {"c", us}});
  for (auto& stage : many.record.stages) stage.cost = work(0, 10'000'000);
  EXPECT_THAT(
      findings(many),
      ElementsAre("below_roofline(a, b, c) measured=1.00 us bound=memory roofline_time=10.0 us"));
  EXPECT_EQ(roofline_findings(many.record, *evaluate_roofline(many.record)).front().how,
            finding_severity::warning);
}

TEST(roofline_findings, report_a_precision_without_calibration) {
  auto made = one_after_another({{"x", 1 * ms}, {"y", 1 * ms}});
  made.record.stages[0].cost = work(1'000, 1'000, precision::tf32);
  made.record.stages[1].cost = work(1'000, 1'000, precision::tf32);
  EXPECT_THAT(findings(made), Contains("rate_not_calibrated(x, y) precision=tf32"));
}

TEST(roofline_findings, report_a_noisy_calibration) {
  auto made = one_after_another({{"x", 1 * ms}});
  made.record.stages[0].cost = work(0, 1'000'000'000);
  EXPECT_THAT(findings(made), Each(Not(StartsWith("noisy_calibration"))));
  auto& ceilings = made.record.calibration->ceilings;
  ceilings[0].worst = 0.8 * ceilings[0].value;        // read bandwidth with a wide spread
  ceilings.back().worst = 9 * ceilings.back().value;  // host cost
  EXPECT_THAT(findings(made),
              Contains("noisy_calibration limit=10 % ceilings=memory, read (30 %)"));
}

}  // namespace
}  // namespace graphline
