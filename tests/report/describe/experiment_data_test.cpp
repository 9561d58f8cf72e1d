#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/time_units.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/result_texts.hpp"

// Data and charts of an experiment.
namespace graphline::report {
namespace {

using samples::made_experiment;
using samples::made_of;
using samples::ms;
using samples::taking;
using ::testing::HasSubstr;

experiment_record two_strategies() {
  return made_experiment("data",
                         {made_of({{"strategy", "serial"}}, taking(87 * ms)),
                          made_of({{"strategy", "async"}}, taking(74 * ms))},
                         6);
}

TEST(describe_experiment, has_every_figure_as_data) {
  const auto record = two_strategies();
  const auto data = nlohmann::json::parse(result_json(record));
  EXPECT_EQ(data["schema"], "graphline.experiment/1");
  EXPECT_EQ(data["complete_blocks"], 6);
  const auto& configuration = data["configurations"][1];
  EXPECT_EQ(configuration["name"], "strategy=async");
  EXPECT_EQ(configuration["assignments"]["strategy"], "async");
  const auto& member = configuration["members"][0];
  EXPECT_EQ(member["trials"], 6);
  EXPECT_EQ(member["end_to_end"]["count"], 120);
  EXPECT_EQ(member["trial_medians_ns"].size(), 6u);
  EXPECT_EQ(member["due"], 120);
  const auto summary = summarize(record);
  ASSERT_EQ(data["comparisons"].size(), summary.comparisons.size());
  for (std::size_t i = 0; i < summary.comparisons.size(); ++i) {
    const auto& found = summary.comparisons[i];
    const auto& shown = data["comparisons"][i];
    const double size = found.figure == figure::throughput ? 1 : 1e6;
    EXPECT_EQ(shown["figure"], to_word(found.figure));
    EXPECT_EQ(shown["unit"], size == 1 ? "frame/s" : "ms");
    EXPECT_NEAR(shown["value"], found.value / size, 1e-9);
    EXPECT_NEAR(shown["difference_interval"][0], found.difference_range->low / size, 1e-9);
    EXPECT_NEAR(shown["ratio_interval"][1], found.ratio_range->high, 1e-12);
    EXPECT_EQ(shown["verdict"], to_word(found.verdict));
    EXPECT_EQ(shown["reference"], "strategy=serial");
  }
  EXPECT_EQ(data["stage_comparisons"].size(), summary.stage_comparisons.size());
  EXPECT_EQ(data["stages"].size(), 6u);
  EXPECT_EQ(data["stages"][0]["measure"], "device_time");
  EXPECT_EQ(data["record"]["trials"].size(), 12u);
}

TEST(describe_experiment, has_a_chart_of_comparisons_and_trials) {
  const auto record = two_strategies();
  const auto made = describe(record);
  const auto& compared =
      std::get<comparisons_chart>(samples::part_of<chart>(made, "comparisons_chart").drawn);
  ASSERT_EQ(compared.list.size(), 3u);
  EXPECT_EQ(compared.list[0].reference, "strategy=serial");
  EXPECT_THAT(compared.list[0].words, HasSubstr("p50 74.0 ms, -14.9 % (95 % interval"));
  const auto& trials = std::get<trials_chart>(samples::part_of<chart>(made, "trials_chart").drawn);
  EXPECT_EQ(trials.trials.size(), 12u);
}

}  // namespace
}  // namespace graphline::report
