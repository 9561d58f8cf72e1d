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

TEST(describe_experiment, has_chains_and_their_comparisons_as_data) {
  auto record = samples::made_chains({1, 0.8});
  record.chains[0].age = 7 * ms;
  const auto data = nlohmann::json::parse(result_json(record));
  ASSERT_EQ(data["chains"].size(), 2u);
  const auto& chain = data["chains"][0];
  EXPECT_EQ(chain["chain"], "brake");
  EXPECT_EQ(chain["configuration"], "speed=1");
  EXPECT_EQ(chain["age"]["count"], 120);
  EXPECT_EQ(chain["age_late"], 120);
  EXPECT_EQ(chain["reaction"]["count"], 130);
  EXPECT_TRUE(chain["reaction_late"].is_null());
  EXPECT_EQ(chain["used"], 120);
  EXPECT_EQ(chain["unused"], 0);
  EXPECT_TRUE(chain["why_unknown"].is_null());
  const auto summary = summarize(record);
  ASSERT_EQ(data["chain_comparisons"].size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& found = summary.chain_comparisons[i];
    const auto& shown = data["chain_comparisons"][i];
    EXPECT_EQ(shown["chain"], "brake");
    EXPECT_EQ(shown["time"], i < 2 ? "age" : "reaction");
    EXPECT_EQ(shown["configuration"], "speed=2");
    EXPECT_EQ(shown["reference"], "speed=1");
    EXPECT_EQ(shown["figure"], to_word(found.figure));
    EXPECT_EQ(shown["unit"], "ms");
    EXPECT_NEAR(shown["value"], found.value / 1e6, 1e-9);
    EXPECT_NEAR(shown["reference_value"], i < 2 ? 8 : 18, 0.1);
    EXPECT_NEAR(shown["difference_interval"][0], found.difference_range->low / 1e6, 1e-9);
    EXPECT_NEAR(shown["ratio_interval"][1], found.ratio_range->high, 1e-12);
    EXPECT_EQ(shown["verdict"], "faster");
    EXPECT_TRUE(shown["more_trials"].is_null());
    EXPECT_FALSE(shown.contains("member"));
  }
  record.chains.clear();
  const auto without = nlohmann::json::parse(result_json(record));
  EXPECT_FALSE(without.contains("chains"));
  EXPECT_FALSE(without.contains("chain_comparisons"));
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
