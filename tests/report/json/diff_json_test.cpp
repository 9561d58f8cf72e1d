#include "framework/report/json/diff_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

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
