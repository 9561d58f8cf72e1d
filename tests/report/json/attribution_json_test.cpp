#include "framework/report/json/attribution_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/json/run_json.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using ::testing::Contains;

json attribution_of(const run_record& record) {
  return json::parse(run_json(record))["attribution"];
}

TEST(attribution_json, sums_to_the_end_to_end_time_of_each_group) {
  const auto result = attribution_of(samples::two_models_on_schedule(200));
  for (const auto* group : {"mean", "typical", "slowest"}) {
    double sum = result["residual"][group];
    for (const auto& row : result["rows"]) sum += row[group].get<double>();
    const auto rows = static_cast<double>(result["rows"].size());
    EXPECT_NEAR(sum, result["end_to_end"][group], (rows + 2) * 1e-9) << group;
  }
}

TEST(attribution_json, names_the_stages_and_what_their_time_went_to) {
  const auto result = attribution_of(samples::two_models(timing_method::event, 60));
  EXPECT_EQ(result["unit"], "ms");
  bool found = false;
  for (const auto& row : result["rows"]) {
    found |= row["what"] == "device" && row["stage"] == "backbone";
  }
  EXPECT_TRUE(found) << result["rows"];
  EXPECT_EQ(result["stages"][1]["name"], "noise");
  EXPECT_EQ(result["stages"][1]["on_path"], 0.0) << "it runs beside the first network";
  EXPECT_THAT(result["best_possible"]["path"], Contains("backbone"));
  EXPECT_LE(result["best_possible"]["by_edges"], result["best_possible"]["by_plan"]);
  EXPECT_EQ(result["slowest_frames"].size(), 1U);
}

TEST(attribution_json, has_the_time_from_begin_to_end_that_the_best_is_to_be_compared_with) {
  const auto record = samples::two_models_on_schedule(60);
  const auto best = attribution_of(record)["best_possible"];
  double sum = 0;
  for (const auto& frame : record.frames) sum += static_cast<double>(frame.end - frame.begin);
  EXPECT_NEAR(best["achieved"].get<double>(), sum / 60 * 1e-6, 1e-9);
  EXPECT_LE(best["by_plan"], best["achieved"]);
}

TEST(attribution_json, says_nothing_of_a_best_time_where_stages_are_not_timed) {
  const auto result = attribution_of(samples::two_models(timing_method::host, 60));
  EXPECT_TRUE(result["best_possible"]["by_plan"].is_null());
  EXPECT_EQ(result["stages"].size(), 0U);
}

TEST(attribution_json, is_not_there_without_stage_times) {
  const auto result = json::parse(run_json(samples::two_models(timing_method::none, 60)));
  EXPECT_FALSE(result.contains("attribution"));
}

}  // namespace
}  // namespace graphline
