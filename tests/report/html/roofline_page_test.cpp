#include "framework/report/html/roofline_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/html/html_page.hpp"
#include "tests/report/html/page_testing.hpp"
#include "tests/report/html/roofline_records.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::data_of;
using samples::times_in;
using testing::AllOf;

using testing::HasSubstr;

json roofline_of(const roofline_record& record) {
  return data_of(roofline_html(record))["roofline"];
}

/// The figure of that name; null without one.
json headline_figure(const json& data, std::string_view name) {
  for (const auto& figure : data["figures"]) {
    if (figure["name"] == name) return figure;
  }
  return {};
}

TEST(roofline_page, begins_as_pages_do_and_says_how_it_was_run) {
  const auto page = roofline_html(samples::calibrated_two_models());
  EXPECT_EQ(page.find(html_beginning), 0u);
  const auto data = data_of(page);
  EXPECT_EQ(data["kind"], "roofline");
  EXPECT_EQ(data["subject"], "two_models on host: Example CPU at 2.1 GHz (1 compute thread)");
  EXPECT_THAT(data["way"].get<std::string>(), HasSubstr("timing event, parts layers"));
  EXPECT_TRUE(data["notices"].empty());
  EXPECT_EQ(data["origin"]["sources"][0]["file"], "two_models.yaml");
}

TEST(roofline_page, says_nothing_of_parts_where_there_are_none) {
  auto record = samples::calibrated_two_models();
  record.layers.frames.clear();
  EXPECT_TRUE(data_of(roofline_html(record))["way"].get<std::string>().ends_with("timing event"));
}

TEST(roofline_page, has_the_roofs_and_which_of_them_are_used) {
  const auto data = roofline_of(samples::calibrated_gpu());
  EXPECT_EQ(data["memory"]["text"], "4.21 TB/s");
  json names = json::array();
  json used = json::array();
  for (const auto& roof : data["roofs"]) {
    names.push_back(roof["name"]);
    used.push_back(roof["used"]);
  }
  EXPECT_EQ(names, json({"float32", "tf32", "float16", "bfloat16"}));
  EXPECT_EQ(used, json({true, true, true, false}));
  EXPECT_NEAR(data["roofs"][0]["knee"].get<double>(), 51.0 / 4.21, 1e-9);
}

TEST(roofline_page, holds_stages_and_parts_against_the_roofs) {
  const auto record = samples::calibrated_gpu();
  const auto data = roofline_of(record);
  ASSERT_EQ(data["stages"].size(), 5u);
  const auto& upload = data["stages"][0];
  EXPECT_EQ(upload["what"], "copy");
  EXPECT_EQ(upload["bound"], "transfer");
  EXPECT_TRUE(upload["rate"].is_null());
  const auto& product = data["stages"][2];
  EXPECT_EQ(product["flops"], "123 MFLOP");
  EXPECT_EQ(product["bytes"], "251 MB");
  EXPECT_NEAR(product["intensity"].get<double>(), 122.88 / 250.8288, 1e-6);
  // What it writes counts as copied, the rest as read.
  const double least = 2 * 3'840'000 / 3.96e3 + (250'828'800 - 2 * 3'840'000) / 4.21e3;
  EXPECT_NEAR(product["least"].get<double>(), least, 1e-3);
  EXPECT_NEAR(product["roof"].get<double>(), 122'880'000 / least * 1e9, 1e3);
  // Below that roof by its ratio.
  EXPECT_NEAR(product["roof"].get<double>() / product["rate"].get<double>(),
              product["ratio"].get<double>(), 1e-6);
  const auto& boxes = data["stages"][4];
  EXPECT_EQ(boxes["what"], "cpu");
  EXPECT_TRUE(boxes["least"].is_null());
  EXPECT_GT(boxes["measured"].get<double>(), 200'000);
  const auto& parts = data["stages"][1]["parts"];
  ASSERT_EQ(parts.size(), 12u);
  EXPECT_EQ(parts[5]["name"], "5.max_pool2d");
  EXPECT_EQ(parts[5]["by"], "Graphline kernel");
  EXPECT_EQ(parts[5]["bound"], "memory");
  EXPECT_EQ(parts[6]["arithmetic"], "float16");
  EXPECT_EQ(parts[9]["beats"], true);
}

TEST(roofline_page, gives_parts_their_part_of_the_share_of_their_stage) {
  const auto data = roofline_of(samples::calibrated_two_models());
  const auto& backbone = data["stages"][0];
  EXPECT_NEAR(backbone["parts"][0]["share"].get<double>(), 0.75 * backbone["share"].get<double>(),
              1e-6);
}

TEST(roofline_page, orders_by_what_there_is_to_gain) {
  const auto data = roofline_of(samples::calibrated_gpu());
  EXPECT_EQ(data["by_gain"][0], 2);  // the product
  const auto record = samples::calibrated_gpu();
  const auto held = hold_against_roofline(record.stages, &record.layers);
  EXPECT_EQ(data["findings"], json(roofline_findings(record.stages, *held)));
}

TEST(roofline_page, has_the_figures_that_stand_first) {
  const auto data = roofline_of(samples::calibrated_two_models());
  EXPECT_EQ(headline_figure(data, "least")["value"], "62.9");
  EXPECT_EQ(headline_figure(data, "measured")["unit"], "ms");
  EXPECT_EQ(headline_figure(data, "ratio")["value"], "1.12");
  EXPECT_EQ(headline_figure(data, "memory roof")["note"], "measured as: memory, read");
  EXPECT_EQ(headline_figure(data, "float32 roof")["note"],
            "measured as: matrix product, float32; knee at 1.98 FLOP/B");
  EXPECT_EQ(headline_figure(data, "calibrated")["tone"], "");
  EXPECT_EQ(headline_figure(roofline_of(samples::calibrated_gpu()), "calibrated")["tone"],
            "warning");
}

TEST(roofline_page, has_the_calibration) {
  const auto data = roofline_of(samples::calibrated_gpu())["calibration"];
  EXPECT_EQ(data["date"], "2026-03-14T09:26:53Z");
  EXPECT_EQ(data["stale"].size(), 2u);
  EXPECT_EQ(data["rows"][0], json({"memory, read", "4.21 TB/s", "4.08 TB/s", "4.29 TB/s"}));
  EXPECT_EQ(data["rows"][2][0], "host to device, pinned");
  EXPECT_EQ(data["rows"][7],
            json({"matrix product, tf32", "410 TFLOP/s", "398 TFLOP/s", "418 TFLOP/s"}));
  EXPECT_EQ(data["rows"][11], json({"launch a graph", "2.50 us", "2.75 us", "2.38 us"}));
}

TEST(roofline_page, says_where_there_is_no_calibration_what_to_do) {
  const auto data = data_of(roofline_html(samples::uncalibrated()));
  EXPECT_FALSE(data.contains("roofline"));
  ASSERT_EQ(data["notices"].size(), 1u);
  EXPECT_THAT(data["notices"][0]["text"].get<std::string>(),
              AllOf(HasSubstr("no calibration"), HasSubstr("'graphline calibrate'")));
}

TEST(roofline_page, has_no_median_of_too_few_frames) {
  const auto data = roofline_of(samples::two_models_roofline(4));
  EXPECT_TRUE(headline_figure(data, "end to end").is_null());
  EXPECT_TRUE(headline_figure(data, "measured").is_null());
  for (const auto& stage : data["stages"]) EXPECT_TRUE(stage["measured"].is_null());
}

TEST(roofline_page, of_no_frames_has_roofs_and_least_times) {
  const auto page = data_of(roofline_html(samples::calibrated_without_frames()));
  ASSERT_EQ(page["notices"].size(), 2u);
  EXPECT_EQ(page["notices"][0]["text"], "Interrupted after 0 of 45 frames");
  EXPECT_EQ(page["notices"][1]["text"], "Interrupted after 0 of 45 frames of the run for parts");
  const auto& data = page["roofline"];
  EXPECT_EQ(data["stages"][0]["bound"], "compute");
  EXPECT_TRUE(data["stages"][0]["measured"].is_null());
  EXPECT_TRUE(headline_figure(data, "ratio").is_null());
  EXPECT_EQ(headline_figure(data, "least")["unit"], "ms");
}

TEST(roofline_page, tells_warnings_of_both_runs_once) {
  auto record = samples::calibrated_two_models();
  record.stages.warnings = {"both"};
  record.layers.warnings = {"both", "graphs stage instead of frame"};
  const auto data = data_of(roofline_html(record));
  ASSERT_EQ(data["notices"].size(), 2u);
  EXPECT_EQ(data["notices"][1]["text"], "graphs stage instead of frame");
}

TEST(roofline_page, is_not_broken_by_names) {
  const auto plain = roofline_html(samples::calibrated_two_models());
  const auto odd = roofline_html(samples::calibrated_odd_names());
  for (const char* mark : {"</script", "<script", "<!--", "<img"}) {
    EXPECT_EQ(times_in(odd, mark), times_in(plain, mark)) << mark;
  }
  EXPECT_FALSE(first_invalid_utf8(odd));
  EXPECT_EQ(data_of(odd)["roofline"]["stages"][0]["name"], "<img src=x onerror=alert(1)>");
}

TEST(roofline_page, takes_layers_that_do_not_fit_the_stages) {
  auto record = samples::calibrated_two_models();
  record.layers.stages.clear();
  const auto data = roofline_of(record);
  ASSERT_EQ(data["stages"].size(), 3u);
  EXPECT_TRUE(data["stages"][0]["parts"][0]["measured"].is_null());
  EXPECT_TRUE(data["stages"][0]["parts"][0]["share"].is_null());
}

}  // namespace
}  // namespace graphline
