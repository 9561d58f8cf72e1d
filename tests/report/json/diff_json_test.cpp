#include "framework/report/json/diff_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

saved_run run(double ms, std::string checksum) {
  saved_run result;
  result.origin.file = "a \"b\"\n.json";
  result.origin.schema = "graphline.run/1";
  result.origin.subject = "two_models";
  result.origin.settings = {{"strategy", checksum}};
  const auto time = static_cast<nanoseconds>(ms * 1e6);
  result.end_to_end = distribution::of(std::vector<nanoseconds>(10, time));
  result.throughput = 1e3 / ms;
  result.device_peak_bytes = 100 * ms;
  result.stages = {{"net", measure::device_time, result.end_to_end}};
  result.outputs = {{.tensor = "y",
                     .dtype = "float32",
                     .shape = {2},
                     .checksum = checksum,
                     .finite = true,
                     .values = {ms, 0.0}}};
  return result;
}

TEST(diff_json, holds_each_figure_before_and_after_with_its_change) {
  const auto text = diff_json(compare(run(150, "00"), run(75, "01")));
  EXPECT_THAT(text, ::testing::StartsWith(json_beginning));
  const auto result = json::parse(text);
  EXPECT_EQ(result["schema"], "graphline.diff/1");
  EXPECT_EQ(result["of"], "graphline.run/1");
  EXPECT_EQ(result["before"]["file"], "a \"b\"\n.json");
  EXPECT_EQ(result["before"]["date"], nullptr);
  const json p50 = {{"unit", "ms"}, {"before", 150.0}, {"after", 75.0}, {"change_percent", -50.0}};
  EXPECT_EQ(result["end_to_end"]["p50"], p50);
  EXPECT_EQ(result["end_to_end"]["p99"]["before"], nullptr);
  EXPECT_EQ(result["throughput"]["change_percent"], 100.0);
  EXPECT_EQ(result["memory"]["device_peak"]["after"], 7500.0);
  EXPECT_EQ(result["deadline_missed"]["before"], nullptr);
  EXPECT_EQ(result["stages"][0]["median"], p50);
  EXPECT_EQ(result["stages"][0]["measure"]["after"], "device_time");
  EXPECT_EQ(result["outputs"][0]["found"], "differs");
  EXPECT_EQ(result["outputs"][0]["largest_difference"], 75.0);
  EXPECT_EQ(result["differences"]["settings"][0],
            (json{{"name", "strategy"}, {"before", "00"}, {"after", "01"}}));
  EXPECT_TRUE(result["differences"]["device"].empty());
}

TEST(diff_json, gives_no_change_of_a_stage_between_times_of_two_kinds) {
  auto after = run(75, "00");
  after.stages[0].what = measure::enqueue_time;
  const auto stage = json::parse(diff_json(compare(run(150, "00"), after)))["stages"][0];
  EXPECT_EQ(stage["median"]["after"], 75.0);
  EXPECT_EQ(stage["median"]["change_percent"], nullptr);
}

TEST(diff_json, says_by_what_either_result_was_disturbed) {
  auto after = run(75, "00");
  after.origin.disturbed = "other processes kept 1.70 of 2 cores busy";
  const auto result = json::parse(diff_json(compare(run(150, "00"), after)));
  EXPECT_EQ(result["before"]["disturbed"], nullptr);
  EXPECT_EQ(result["after"]["disturbed"], "other processes kept 1.70 of 2 cores busy");
}

TEST(diff_json, says_in_which_run_a_stage_is) {
  auto after = run(75, "00");
  after.stages.clear();
  const auto stage = json::parse(diff_json(compare(run(150, "00"), after)))["stages"][0];
  EXPECT_EQ(stage["in"], (json{{"before", true}, {"after", false}}));
  EXPECT_EQ(stage["measure"]["after"], nullptr);
}

saved_experiment experiment(double ms) {
  saved_experiment result;
  result.origin.schema = "graphline.experiment/1";
  saved_configuration a{"timing=none", {}, {}};
  for (int i = 0; i < 5; ++i) {
    a.trials.emplace_back().frames = {{0, 0, static_cast<nanoseconds>(ms * 1e6)}};
  }
  result.configurations = {a};
  return result;
}

TEST(diff_json, holds_intervals_and_verdicts_of_experiments) {
  auto before = experiment(100);
  auto after = experiment(80);
  after.configurations.push_back({"timing=sync", {}, {}});
  const auto result = json::parse(diff_json(compare(before, after)));
  EXPECT_EQ(result["of"], "graphline.experiment/1");
  const auto& p50 = result["changes"][0];
  EXPECT_EQ(p50["configuration"], "timing=none");
  EXPECT_EQ(p50["figure"], "p50");
  EXPECT_EQ(p50["unit"], "ms");
  EXPECT_EQ(p50["before"], 100.0);
  EXPECT_NEAR(p50["change_interval_percent"][0].get<double>(), -20, 1e-9);
  EXPECT_EQ(p50["verdict"], "faster");
  EXPECT_EQ(p50["trials"]["after"], 5);
  const auto& throughput = result["changes"][1];
  EXPECT_EQ(throughput["unit"], "frame/s");
  EXPECT_NEAR(throughput["change_percent"].get<double>(), 25, 1e-9);
  EXPECT_EQ(throughput["verdict"], "faster");
  EXPECT_EQ(result["only_after"], json::array({"timing=sync"}));
}

TEST(diff_json, has_no_interval_below_five_trials) {
  auto before = experiment(100);
  before.configurations[0].trials.pop_back();
  const auto change = json::parse(diff_json(compare(before, experiment(80))))["changes"][0];
  EXPECT_EQ(change["change_interval_percent"], nullptr);
  EXPECT_EQ(change["verdict"], "undecided");
}

}  // namespace
}  // namespace graphline
