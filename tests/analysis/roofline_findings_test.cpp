#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/roofline/roofline.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::figure_of;
using samples::five_times;
using samples::in_two_parts;
using samples::keys;
using samples::made_run;
using samples::ms;
using samples::one_after_another;
using samples::round_calibration;
using samples::us;
using samples::work;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<finding> findings(const made_run& made, const run_record* layers = nullptr) {
  return roofline_findings(made.record, *evaluate_roofline(made.record, layers));
}

/// Empty if there is none.
std::optional<finding> find(const std::vector<finding>& list, std::string_view key) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const auto& f) { return f.key == key; });
  return at == list.end() ? std::nullopt : std::optional(*at);
}

TEST(roofline_findings, list_the_largest_gain_first) {
  auto made = one_after_another({{"product", 200 * ms}, {"copy in", 20 * ms}, {"tail", 1 * ms}});
  made.record.stages[0].cost = work(122'880'000, 250'000'000);
  made.record.stages[1].cost = work(0, 5'000'000'000);
  made.record.stages[2].cost = work(0, 10'000'000);
  const auto found = findings(made);
  ASSERT_THAT(keys(found), ElementsAre("far_from_roofline", "also_far_from_roofline"));
  EXPECT_THAT(found[0].subjects, ElementsAre("product"));
  EXPECT_THAT(figure_of(found[0], "measured"), DoubleEq(200 * ms));
  EXPECT_THAT(figure_of(found[0], "roofline_time"), DoubleEq(250 * us));
  EXPECT_THAT(figure_of(found[0], "ratio"), DoubleEq(800));
  EXPECT_THAT(figure_of(found[0], "share_of_critical_path"),
              testing::DoubleNear(200.0 / 221, 1e-3));
  EXPECT_EQ(std::get<std::string>(*found[0].find("bound")), "memory");
  EXPECT_EQ(found[0].find("part"), nullptr);
  EXPECT_THAT(found[1].subjects, ElementsAre("copy in"));
  EXPECT_THAT(figure_of(found[1], "ratio"), DoubleEq(4));
}

TEST(roofline_findings, name_the_dominant_part) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.stages[0].parts[0].device = five_times(410 * us);
  layers.stages[0].parts[1].device = five_times(590 * us);
  const auto far = find(findings(made, &layers), "far_from_roofline");
  ASSERT_TRUE(far);
  EXPECT_EQ(std::get<std::string>(*far.value().find("part")), "1.gelu");
  EXPECT_EQ(std::get<std::string>(*far.value().find("part_bound")), "memory");
  EXPECT_THAT(figure_of(*far, "part_measured"), DoubleEq(590 * us));
  EXPECT_THAT(figure_of(*far, "part_roofline_time"), DoubleEq(100 * us));
  // Neither accounts for most of it enough to be named: 110 us and 90 us above.
  layers.stages[0].parts[0].device = five_times(500 * us);
  layers.stages[0].parts[1].device = five_times(200 * us);
  EXPECT_EQ(find(findings(made, &layers), "far_from_roofline").value().find("part"), nullptr);
}

TEST(roofline_findings, report_launch_bound_stages) {
  auto made = one_after_another({{"small", 40 * us}});
  made.record.stages[0].cost = work(1'000, 1'000'000);
  const auto found = find(findings(made), "launch_bound");
  ASSERT_TRUE(found);
  EXPECT_THAT(figure_of(*found, "roofline_time"), DoubleEq(1 * us));
  EXPECT_THAT(figure_of(*found, "launch"), DoubleEq(5 * us));
  made.record.stages[0].cost = work(1'000, 6'000'000);
  EXPECT_FALSE(find(findings(made), "launch_bound"));
}

TEST(roofline_findings, merge_stages_below_their_roofline) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.stages[0].parts[0].device = five_times(300 * us);
  layers.stages[0].parts[1].device = five_times(50 * us);
  EXPECT_THAT(find(findings(made, &layers), "below_roofline").value().subjects,
              ElementsAre("net/0.conv2d", "net/1.gelu"));

  auto many = one_after_another({{"a", us}, {"b", us}, {"c", us}});
  for (auto& stage : many.record.stages) stage.cost = work(0, 10'000'000);
  const auto found = findings(many);
  ASSERT_THAT(keys(found), ElementsAre("below_roofline"));
  EXPECT_EQ(found[0].how, finding_severity::warning);
  EXPECT_THAT(found[0].subjects, ElementsAre("a", "b", "c"));
  EXPECT_THAT(figure_of(found[0], "measured"), DoubleEq(1 * us));
  EXPECT_THAT(figure_of(found[0], "roofline_time"), DoubleEq(10 * us));
}

TEST(roofline_findings, report_a_precision_without_calibration) {
  auto made = one_after_another({{"x", 1 * ms}, {"y", 1 * ms}});
  made.record.stages[0].cost = work(1'000, 1'000, precision::tf32);
  made.record.stages[1].cost = work(1'000, 1'000, precision::tf32);
  const auto found = find(findings(made), "rate_not_calibrated");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->subjects, ElementsAre("x", "y"));
  EXPECT_EQ(std::get<std::string>(*found.value().find("precision")), "tf32");
}

TEST(roofline_findings, report_a_noisy_calibration) {
  auto made = one_after_another({{"x", 1 * ms}});
  made.record.stages[0].cost = work(0, 1'000'000'000);
  EXPECT_FALSE(find(findings(made), "noisy_calibration"));
  auto& ceilings = made.record.calibration->ceilings;
  ceilings[0].worst = 0.8 * ceilings[0].value;        // read bandwidth with a wide spread
  ceilings.back().worst = 9 * ceilings.back().value;  // host cost
  const auto found = find(findings(made), "noisy_calibration");
  ASSERT_TRUE(found);
  EXPECT_THAT(std::get<std::vector<std::string>>(*found.value().find("ceilings")),
              ElementsAre("memory, read (30 %)"));
}

}  // namespace
}  // namespace graphline
