#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/base/error.hpp"
#include "framework/report/json/experiment_json.hpp"
#include "framework/report/store/result_reader.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::made_experiment;
using samples::made_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;

experiment_record two_ways(std::size_t blocks) {
  auto record = made_experiment(
      "sync_vs_event",
      {made_of({{"timing", "none"}}), made_of({{"timing", "sync"}}, {.end_to_end = 90'000'000})},
      blocks);
  record.files = {{"two_models.yaml", "00c0ffee00c0ffee"}};
  return record;
}

class saved_experiment_reader : public samples::result_files {
 protected:
  saved_experiment read(const std::string& text) {
    return std::get<saved_experiment>(read_result(write("e.json", text)));
  }
  saved_experiment read(const experiment_record& record) { return read(experiment_json(record)); }
};

TEST_F(saved_experiment_reader, gives_the_figures_that_the_experiment_itself_shows) {
  const auto record = two_ways(7);
  const auto summary = summarize(record);
  const auto saved = read(record);
  EXPECT_EQ(saved.origin.schema, "graphline.experiment/1");
  EXPECT_EQ(saved.origin.subject, "sync_vs_event");
  EXPECT_EQ(saved.tail, record.how.tail);
  EXPECT_EQ(saved.margin, record.how.margin);
  ASSERT_THAT(saved.configurations, SizeIs(2));
  const auto diff = compare(saved, saved);
  ASSERT_THAT(diff.changes, SizeIs(6));
  for (std::size_t c = 0; c < 2; ++c) {
    const auto& shown = summary.configurations[c].members[0];
    EXPECT_EQ(diff.changes[3 * c].name, record.configurations[c].name);
    EXPECT_THAT(diff.changes[3 * c].values.before,
                Optional(static_cast<double>(*shown.end_to_end->percentile(0.5))));
    EXPECT_THAT(diff.changes[3 * c + 1].values.before, Optional(static_cast<double>(*shown.tail)));
    EXPECT_NEAR(*diff.changes[3 * c + 2].values.before, *shown.throughput, 1e-9);
    EXPECT_EQ(diff.changes[3 * c].trials.before, 7U);
    EXPECT_TRUE(diff.changes[3 * c].ratio_range);
  }
}

TEST_F(saved_experiment_reader, counts_trials_of_complete_blocks_only) {
  auto record = two_ways(6);
  record.trials.back().members[0].interrupted = true;
  const auto saved = read(record);
  EXPECT_TRUE(saved.complete);
  for (const auto& configuration : saved.configurations) {
    EXPECT_THAT(configuration.trials, SizeIs(5));
  }
}

TEST_F(saved_experiment_reader, shows_what_trials_there_are_where_no_block_is_complete) {
  auto record = two_ways(6);
  std::erase_if(record.trials, [](const trial_record& trial) { return trial.configuration == 1; });
  const auto saved = read(record);
  EXPECT_FALSE(saved.complete);
  EXPECT_THAT(saved.configurations[0].trials, SizeIs(6));
  EXPECT_THAT(saved.configurations[1].trials, SizeIs(0));
  EXPECT_THAT(diff_table(compare(saved, saved)), HasSubstr("undecided"));
}

TEST_F(saved_experiment_reader, leaves_out_blocks_that_were_repeated) {
  auto record = two_ways(8);
  record.how.repeat_affected = true;
  auto result = json::parse(experiment_json(record));
  result["steadiness"]["affected_blocks"] = {2, 5};
  EXPECT_THAT(read(result.dump()).configurations[0].trials, SizeIs(6));
  result["settings"]["repeat_affected"] = false;
  EXPECT_THAT(read(result.dump()).configurations[0].trials, SizeIs(8));
}

TEST_F(saved_experiment_reader, says_how_many_trials_were_disturbed) {
  auto record = two_ways(6);
  EXPECT_EQ(read(record).origin.disturbed, "");
  conditions_record conditions{.lasted = 10'000'000'000, .cores = 2};
  conditions.others = 17'000'000'000;
  record.trials[3].members[0].conditions = conditions;
  EXPECT_EQ(read(record).origin.disturbed,
            "1 of 12 trials: other processes kept 1.70 of 2 cores busy");
  conditions.others = 18'000'000'000;
  record.trials[7].members[0].conditions = conditions;
  const auto saved = read(record);
  EXPECT_EQ(saved.origin.disturbed,
            "2 of 12 trials, the first of them: other processes kept 1.70 of 2 cores busy");
  EXPECT_THAT(
      diff_table(compare(saved, read(two_ways(6)))),
      HasSubstr("\nwarning: the result before was disturbed (machine noise): 2 of 12 trials"));
}

TEST_F(saved_experiment_reader, names_pipelines_that_ran_at_once) {
  auto record = two_ways(5);
  samples::add_together(record, "together", {{"camera", made_of({})}, {"batch", made_of({})}});
  const auto saved = read(record);
  ASSERT_THAT(saved.configurations, SizeIs(4));
  EXPECT_EQ(saved.configurations[2].name, "together: camera");
  EXPECT_EQ(saved.configurations[3].name, "together: batch");
}

TEST_F(saved_experiment_reader, keeps_files_and_the_settings_that_all_configurations_share) {
  auto record = two_ways(5);
  for (auto& trial : record.trials) {
    trial.members[0].run.in_flight = trial.configuration == 0 ? 1 : 2;
  }
  const auto settings = read(record).origin.settings;
  EXPECT_THAT(settings, Contains(Pair("two_models.yaml", "00c0ffee00c0ffee")));
  EXPECT_THAT(settings, Contains(Pair("run.params.batch", "1")));
  EXPECT_THAT(settings, Contains(Pair("margin", "0.01")));
  EXPECT_THAT(settings, Not(Contains(Key("run.in_flight"))));
}

TEST_F(saved_experiment_reader, reads_an_experiment_that_ended_before_its_first_trial) {
  auto record = two_ways(1);
  record.trials.clear();
  record.interrupted = true;
  const auto saved = read(record);
  EXPECT_TRUE(saved.interrupted);
  EXPECT_THAT(diff_table(compare(saved, saved)),
              HasSubstr("no configuration was measured in both"));
}

TEST_F(saved_experiment_reader, names_the_key_that_is_missing) {
  auto result = json::parse(experiment_json(two_ways(5)));
  result["trials"][3]["members"][0]["frames"].erase("due");
  try {
    read(result.dump());
    FAIL() << "frames without a column were taken";
  } catch (const input_error& problem) {
    EXPECT_THAT(problem.what(), AllOf(HasSubstr("e.json: error: "),
                                      HasSubstr("trials[3].members[0].frames"), HasSubstr("due")));
  }
}

TEST_F(saved_experiment_reader, survives_any_key_that_is_missing_or_of_another_kind) {
  const auto whole = json::parse(experiment_json(two_ways(1)));
  for (const auto& [key, value] : whole.items()) {
    for (const auto& other : {json(), json(3), json("text"), json::array(), json::object()}) {
      auto changed = whole;
      changed[key] = other;
      try {
        read(changed.dump());
      } catch (const input_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("error: ")) << key;
      }
    }
  }
}

TEST_F(saved_experiment_reader, shows_names_of_any_kind) {
  auto record = two_ways(5);
  record.name = "quoted \"name\"\nand 名前";
  record.configurations[0].name = "a\tb";
  const auto saved = read(record);
  EXPECT_THAT(diff_table(compare(saved, saved)),
              AllOf(HasSubstr("quoted \"name\"?and 名前 on host: "), HasSubstr("\na?b ")));
}

}  // namespace
}  // namespace graphline
