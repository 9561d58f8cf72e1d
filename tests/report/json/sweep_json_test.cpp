#include "framework/report/json/sweep_json.hpp"

#include <gtest/gtest.h>

#include "framework/report/json/experiment_json.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_sweep.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::figures_of;
using samples::laptop_calibration;
using samples::made_sweep;

TEST(sweep_json, has_a_point_for_each_value) {
  auto record = made_sweep();
  record.calibration = laptop_calibration();
  const auto swept = sweep_of(record, figures_of(record));
  const auto result = json::parse(experiment_json(record))["sweep"];
  EXPECT_EQ(result["parameter"], "kernel");
  EXPECT_EQ(result["time_is"], "device_time");
  EXPECT_EQ(result["unit"], "ms");
  ASSERT_EQ(result["points"].size(), 6);
  const auto& point = result["points"][1];
  EXPECT_EQ(point["configuration"], "kernel=3");
  EXPECT_EQ(point["value"], 3);
  EXPECT_EQ(point["flops"], 169'869'312);
  EXPECT_EQ(point["bytes"], 1'347'456);
  EXPECT_EQ(point["intensity"], *swept->points[1].intensity);
  EXPECT_EQ(point["flops_per_second"], *swept->points[1].rate);
  EXPECT_NEAR(point["time"], 1.18, 0.02);
  EXPECT_NEAR(point["least"], 0.849347, 1e-6);
  EXPECT_EQ(point["bound"], "compute");
  EXPECT_EQ(point["ratio"], *swept->points[1].ratio);
}

TEST(sweep_json, is_null_for_what_is_not_known) {
  auto record = made_sweep();
  samples::for_runs_of(record, 0, [](run_record& run) { run.stages.front().cost = {}; });
  const auto point = sweep_json(*sweep_of(record, figures_of(record)), record)["points"][0];
  for (const auto* key :
       {"flops", "bytes", "intensity", "flops_per_second", "least", "bound", "ratio"}) {
    EXPECT_TRUE(point.at(key).is_null()) << key;
  }
}

TEST(sweep_json, is_not_there_where_nothing_is_swept) {
  EXPECT_FALSE(json::parse(experiment_json(samples::two_strategies())).contains("sweep"));
}

TEST(sweep_json, comes_from_the_record_alone) {
  auto record = made_sweep();
  record.calibration = laptop_calibration();
  const auto saved = json::parse(experiment_json(record));
  const auto again = experiment_from(json_part(saved, "the result"));
  EXPECT_EQ(json::parse(experiment_json(again))["sweep"], saved["sweep"]);
}

}  // namespace
}  // namespace graphline
