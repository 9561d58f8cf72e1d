#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/describe/describe.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/roofline_records.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::fact_of;
using samples::number;
using samples::part_of;
using samples::sentences_of;
using samples::text;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const roofline_chart& chart_in(const document& of) {
  return std::get<roofline_chart>(part_of<chart>(of, "roofline").drawn);
}

TEST(describe_roofline, says_what_ran_where_and_how) {
  const auto says = describe(samples::calibrated_two_models());
  EXPECT_EQ(says.title, "two_models");
  EXPECT_THAT(
      says.lines,
      ElementsAre("two_models on host: Example CPU at 2.1 GHz (1 compute thread)",
                  HasSubstr("async"), HasSubstr("timing=event, parts under timing layers")));
  EXPECT_THAT(sentences_of(says, finding_severity::failure), IsEmpty());
  EXPECT_EQ(part_of<facts>(says, "sources").list[0].title, "two_models.yaml");
  auto whole = samples::calibrated_two_models();
  whole.layers.frames.clear();
  EXPECT_TRUE(describe(whole).lines.back().ends_with("timing=event"));
}

TEST(describe_roofline, puts_stages_and_parts_under_the_ceilings) {
  const auto says = describe(samples::calibrated_gpu());
  const auto& stages = part_of<table>(says, "stages");
  ASSERT_EQ(stages.rows.size(), 5u + 12);
  EXPECT_EQ(text(cell_of(stages, "upload", "kind")), "copy");
  EXPECT_EQ(text(cell_of(stages, "upload", "bound")), "transfer");
  EXPECT_EQ(number(cell_of(stages, "product", "flops")), 122'880'000);
  EXPECT_EQ(number(cell_of(stages, "product", "bytes")), 250'828'800);
  EXPECT_NEAR(*number(cell_of(stages, "product", "intensity")), 122.88 / 250.8288, 1e-6);
  // Written bytes count as copied, the rest as read.
  const double least = 2 * 3'840'000 / 3.96e3 + (250'828'800 - 2 * 3'840'000) / 4.21e3;
  EXPECT_NEAR(*number(cell_of(stages, "product", "roofline_time")), least, 1e-3);
  EXPECT_EQ(text(cell_of(stages, "boxes", "on")), "cpu");
  EXPECT_FALSE(cell_of(stages, "boxes", "roofline_time").known());
  EXPECT_GT(*number(cell_of(stages, "boxes", "measured")), 200'000);
  EXPECT_EQ(text(cell_of(stages, "5.max_pool2d", "kernel")), "Graphline kernel");
  EXPECT_EQ(text(cell_of(stages, "5.max_pool2d", "bound")), "memory");
  EXPECT_EQ(text(cell_of(stages, "6.conv2d+relu", "precision")), "float16");
  EXPECT_EQ(std::get<bool>(cell_of(stages, "9.conv2d+relu", "below_roofline").value), true);
}

TEST(describe_roofline, draws_what_computes_and_was_measured) {
  const auto says = describe(samples::calibrated_gpu());
  const auto& drawn = chart_in(says);
  EXPECT_THAT(drawn.without, ElementsAre("upload"));
  const auto product = std::find_if(drawn.points.begin(), drawn.points.end(),
                                    [](const auto& p) { return p.stage == "product"; });
  ASSERT_NE(product, drawn.points.end());
  for (const auto* words :
       {"123 MFLOP in float32: 0.49 FLOP/B", "3.94 ms measured", "66.0x roofline"}) {
    EXPECT_THAT(product->words, HasSubstr(words));
  }
  EXPECT_NEAR(drawn.bandwidth, 4.21e12, 1);
  EXPECT_TRUE(std::ranges::is_sorted(drawn.ceilings, {}, &roofline_chart::ceiling::rate));
  EXPECT_EQ(drawn.ceilings[0].name, "float32");
  EXPECT_NEAR(drawn.ceilings[0].ridge_point, 51.0 / 4.21, 1e-9);
}

TEST(describe_roofline, has_the_ceilings) {
  const auto says = describe(samples::calibrated_gpu());
  const auto& ceilings = part_of<table>(says, "ceilings");
  EXPECT_EQ(number(cell_of(ceilings, "memory, read", "value")), 4.21e12);
  EXPECT_EQ(number(cell_of(ceilings, "memory, read", "worst")), 0.97 * 4.21e12);
  EXPECT_EQ(number(cell_of(ceilings, "matrix product, tf32", "best")), 1.02 * 410e12);
  EXPECT_TRUE(cell_of(ceilings, "matrix product, tf32", "ridge_point").known());
  EXPECT_EQ(std::get<quantity>(cell_of(ceilings, "launch a graph", "value").value).in,
            unit::duration);
  EXPECT_THAT(sentences_of(says, finding_severity::warning),
              testing::Contains(HasSubstr("driver was 570.1, is 580.2; it is 200 days old")));
  const auto& first = part_of<facts>(says, "calibration");
  EXPECT_EQ(text(fact_of(first, "date").value), "2026-03-14T09:26:53Z");
}

TEST(describe_roofline, has_ceilings_and_a_plot_of_each_device) {
  auto record = samples::calibrated_two_models();
  for (auto* run : {&record.stages, &record.layers}) {
    run->devices = {{"left", run->device}, {"right", run->device}};
    run->devices[0].calibration = run->devices[1].calibration =
        *std::exchange(run->calibration, {});
    run->stages[2].device_index = 1;
  }
  record.stages.devices[1].calibration->stale = {"driver was 1, is 2"};
  const auto says = describe(record, analyze(record));
  const auto& left = std::get<roofline_chart>(part_of<chart>(says, "roofline_left").drawn);
  const auto& right = std::get<roofline_chart>(part_of<chart>(says, "roofline_right").drawn);
  for (const auto& point : left.points) EXPECT_EQ(point.stage, record.stages.stages[0].name);
  for (const auto& point : right.points) EXPECT_EQ(point.stage, record.stages.stages[2].name);
  EXPECT_FALSE(left.points.empty());
  EXPECT_FALSE(right.points.empty());
  EXPECT_EQ(part_of<table>(says, "ceilings_right").title, "Ceilings of right");
  const auto& stages = part_of<table>(says, "stages");
  EXPECT_EQ(std::get<std::string>(cell_of(stages, record.stages.stages[2].name, "device").value),
            "right");
  EXPECT_THAT(sentences_of(says, finding_severity::warning),
              testing::Contains(HasSubstr("calibration of device 'right' may no longer hold")));
}

TEST(describe_roofline, says_where_there_is_no_calibration_what_to_do) {
  const auto says = describe(samples::uncalibrated());
  EXPECT_THAT(sentences_of(says, finding_severity::failure),
              ElementsAre(AllOf(HasSubstr("no calibration"), HasSubstr("'graphline calibrate'"))));
  EXPECT_ANY_THROW(part_of<table>(says, "stages"));
}

TEST(describe_roofline, has_no_median_of_too_few_frames) {
  const auto says = describe(samples::two_models_roofline(4));
  for (const auto* key : {"end_to_end", "measured", "ratio"}) {
    EXPECT_FALSE(fact_of(part_of<facts>(says, "totals"), key).value.known()) << key;
  }
  for (const auto* row : {"backbone", "2.linear", "noise", "head"}) {
    EXPECT_FALSE(cell_of(part_of<table>(says, "stages"), row, "measured").known()) << row;
  }
  EXPECT_TRUE(std::ranges::any_of(says.parts, [](const auto& part) {
    const auto* some = std::get_if<note>(&part);
    return some != nullptr && some->text == "-: too few frames: p50 needs 5";
  }));
}

TEST(describe_roofline, of_no_frames_has_ceilings_and_roofline_times) {
  const auto says = describe(samples::calibrated_without_frames());
  EXPECT_THAT(sentences_of(says, finding_severity::failure),
              ElementsAre("INTERRUPTED after 0 of 45 frames under timing event",
                          "INTERRUPTED after 0 of 45 frames under timing layers"));
  const auto& stages = part_of<table>(says, "stages");
  EXPECT_EQ(text(cell_of(stages, "backbone", "bound")), "compute");
  EXPECT_FALSE(cell_of(stages, "backbone", "measured").known());
  EXPECT_TRUE(fact_of(part_of<facts>(says, "totals"), "roofline_time").value.known());
}

TEST(describe_roofline, reports_failures_first_and_warnings_of_both_runs_once) {
  auto record = samples::two_models_roofline(5);
  record.stages.warnings = {"both"};
  record.layers.warnings = {"both", "graphs=stage instead of frame"};
  record.layers.failure = "stage 'head', frame 3: out of memory";
  const auto says = describe(record);
  EXPECT_THAT(sentences_of(says, finding_severity::warning),
              ElementsAre("both", "graphs=stage instead of frame"));
  EXPECT_THAT(
      sentences_of(says, finding_severity::failure),
      ElementsAre(
          "FAILED after 5 of 5 frames under timing layers: stage 'head', frame 3: out of memory"));
}

}  // namespace
}  // namespace graphline::report
