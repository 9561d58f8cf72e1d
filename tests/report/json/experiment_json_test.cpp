#include "framework/report/json/experiment_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "framework/base/error.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/random_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::two_models;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two configurations, two trials of each.
experiment_record sample_experiment() {
  experiment_record record;
  record.name = "sync_vs_event";
  record.description = "What waiting costs.";
  record.how.trials = 2;
  record.how.time_limit = 90'000'000'000;
  record.files = {{"sync_vs_event.yaml", "0000000000000001"}, {"device", "host"}};
  record.configurations = {
      {"timing=event in_flight=2", {{"timing", "event"}, {"in_flight", "2"}}, {"two_models"}},
      {"timing=sync in_flight=2", {{"timing", "sync"}, {"in_flight", "2"}}, {"two_models"}}};
  record.pairs = {{{1, 0}, {0, 0}}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto method = i % 2 == 0 ? timing_method::event : timing_method::sync;
    const auto begun = static_cast<nanoseconds>(i) * 200'000'000;
    record.trials.push_back({i % 2, i / 2, begun, {two_models(method, 2)}});
  }
  record.stopped = "the time limit of 90 s was reached";
  return record;
}

/// What a summary of it may look like.
experiment_summary sample_summary() {
  experiment_summary summary;
  summary.complete_blocks = 2;
  for (const auto what : {measure::device_time, measure::synchronized_time}) {
    member_summary member;
    member.name = "two_models";
    member.trials = 2;
    member.end_to_end = distribution::of({70'000'000, 74'000'000, 74'000'000, 76'000'000});
    member.tail = 76'000'000;
    member.throughput = 13.5;
    member.trial_medians = {70'000'000, 74'000'000};
    member.between_trials = 2'828'427;
    member.stages = {{"backbone", side::device, what, distribution::of({70'000'000})},
                     {"noise", side::cpu, std::nullopt, std::nullopt}};
    member.due = 4;
    member.device_bytes = 24 << 20;
    member.cores = 1.25;
    summary.configurations.push_back({"", {std::move(member)}});
  }
  auto& slow = summary.configurations[1].members[0];
  slow.deadline = deadline_summary{60'000'000, 4, 14'000'000, 16'000'000};
  slow.dropped = 3;
  const compared_pair pair = {{1, 0}, {0, 0}};
  summary.comparisons = {
      {pair, figure::p50, 90'000'000, 74'000'000, 16'000'000, 1.21622,
       interval{15'000'000, 17'000'000}, interval{1.2, 1.23}, verdict::slower, std::nullopt},
      {pair, figure::tail, 90'000'000, 76'000'000, 14'000'000, 1.18421, std::nullopt, std::nullopt,
       verdict::undecided, 3},
      {pair, figure::throughput, 11.1, 13.5, -2.4, 0.822222, interval{-2.5, -2.3},
       interval{0.81, 0.83}, verdict::slower, std::nullopt}};
  summary.stage_comparisons = {{pair, 0, 100'000, 1.00143, interval{0.999, 1.002}, verdict::same}};
  summary.machine = {0.015, {1}};
  return summary;
}

std::string sample_text() {
  return experiment_json(sample_experiment(), sample_summary(),
                         {finding{""}.with("text", "Waiting costs 16 ms a frame.")});
}

/// What reading the sample says after `change` was made to it.
template <class Change>
std::string trouble(Change change) {
  auto value = json::parse(sample_text());
  change(value);
  try {
    experiment_from(json_part(value, "result"));
  } catch (const input_error& e) {
    return e.what();
  }
  return "read";
}

TEST(experiment_json, is_written_as_ever) {
  samples::expect_golden("experiment.json", sample_text());
}

TEST(experiment_json, has_its_keys_in_their_order) {
  const auto text = sample_text();
  EXPECT_TRUE(text.starts_with(json_beginning));
  std::vector<std::string> keys;
  const auto result = json::parse(text);
  for (const auto& [key, value] : result.items()) keys.push_back(key);
  EXPECT_THAT(keys,
              ElementsAre("schema", "name", "description", "settings", "files", "sources", "device",
                          "environment", "complete_blocks", "trials_left_out", "stopped",
                          "interrupted", "failure", "configurations", "comparisons",
                          "stage_comparisons", "steadiness", "findings", "pairs", "trials"));
}

TEST(experiment_json, names_what_is_compared_and_says_in_which_unit) {
  const auto comparisons = json::parse(sample_text())["comparisons"];
  const auto& p50 = comparisons[0];
  EXPECT_EQ(p50["configuration"], "timing=sync in_flight=2");
  EXPECT_EQ(p50["reference"], "timing=event in_flight=2");
  EXPECT_EQ(p50["unit"], "ms");
  EXPECT_EQ(p50["difference"], 16.0);
  EXPECT_THAT(p50["difference_interval"], ElementsAre(15.0, 17.0));
  EXPECT_EQ(p50["verdict"], "slower");
  EXPECT_TRUE(p50["more_trials"].is_null());
  EXPECT_TRUE(comparisons[1]["ratio_interval"].is_null());
  EXPECT_EQ(comparisons[1]["more_trials"], 3);
  EXPECT_EQ(comparisons[2]["unit"], "frame/s");
  EXPECT_EQ(comparisons[2]["reference_value"], 13.5);
  EXPECT_THAT(comparisons[2]["difference_interval"], ElementsAre(-2.5, -2.3));
}

TEST(experiment_json, gives_assignments_their_type) {
  const auto result = json::parse(sample_text());
  EXPECT_EQ(result["configurations"][0]["assignments"],
            (json{{"timing", "event"}, {"in_flight", 2}}));
}

TEST(experiment_json, has_null_where_nothing_was_measured) {
  auto record = sample_experiment();
  record.trials.clear();
  experiment_summary summary;
  summary.configurations = {{"", {member_summary()}}, {"", {member_summary()}}};
  const auto result = json::parse(experiment_json(record, summary, {}));
  EXPECT_FALSE(result.contains("device"));
  EXPECT_TRUE(result["trials"].empty());
  const auto& member = result["configurations"][0]["members"][0];
  EXPECT_EQ(member["end_to_end"]["count"], 0);
  EXPECT_TRUE(member["end_to_end"]["tail"].is_null());
  EXPECT_TRUE(member["throughput"]["value"].is_null());
  EXPECT_TRUE(member["settings"].is_null());
  EXPECT_TRUE(result["steadiness"]["drift"].is_null());
}

TEST(experiment_json, of_a_record_alone_has_its_summary) {
  const auto result = json::parse(experiment_json(sample_experiment()));
  EXPECT_EQ(result["configurations"].size(), 2u);
  EXPECT_EQ(result["trials"].size(), 4u);
}

TEST(saved_experiment, reads_back_as_it_was) {
  auto record = sample_experiment();
  record.name = "\"名前\"\n";
  record.failure = "its process is gone";
  record.how.narrow_to = 0.01;
  record.how.seed = ~std::uint64_t{0};
  record.how.fresh_processes = record.how.repeat_affected = record.interrupted = true;
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    record.trials[i].members = samples::random_trial(i, 1, 3).members;
  }
  record.configurations[1].assignments.emplace_back("rate", "0.10");
  const auto saved = json::parse(experiment_json(record, sample_summary(), {}));
  const auto back = experiment_from(json_part(saved, "result"));
  EXPECT_EQ(back.name, record.name);
  EXPECT_EQ(back.description, record.description);
  EXPECT_EQ(back.files, record.files);
  EXPECT_EQ(back.stopped, record.stopped);
  EXPECT_EQ(back.interrupted, record.interrupted);
  EXPECT_EQ(back.failure, record.failure);
  const auto how = [](const experiment_settings& s) {
    return std::tie(s.trials, s.time_limit, s.narrow_to, s.margin, s.tail, s.seed,
                    s.fresh_processes, s.repeat_affected);
  };
  EXPECT_EQ(how(back.how), how(record.how));
  ASSERT_EQ(back.configurations.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back.configurations[i].name, record.configurations[i].name);
    EXPECT_EQ(back.configurations[i].assignments, record.configurations[i].assignments);
    EXPECT_EQ(back.configurations[i].members, record.configurations[i].members);
  }
  ASSERT_EQ(back.pairs.size(), 1u);
  EXPECT_EQ(back.pairs[0].what, record.pairs[0].what);
  EXPECT_EQ(back.pairs[0].reference, record.pairs[0].reference);
  ASSERT_EQ(back.trials.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) samples::expect_same(back.trials[i], record.trials[i]);
}

TEST(saved_experiment, that_is_damaged_is_refused_with_the_reason) {
  EXPECT_EQ(trouble([](json& saved) { saved = json::array(); }),
            "result is a list, where an object is expected");
  EXPECT_EQ(trouble([](json& saved) { saved["settings"].erase("margin"); }),
            "result.settings lacks 'margin'");
  EXPECT_EQ(trouble([](json& saved) { saved["trials"][3]["configuration"] = 2; }),
            "result.trials[3].configuration is 2, where one of the configurations is expected");
  EXPECT_THAT(trouble([](json& saved) { saved["trials"][1]["members"].clear(); }),
              HasSubstr("result.trials[1].members has 0 entries, where the configuration has 1"));
  EXPECT_THAT(trouble([](json& saved) { saved["pairs"][0]["what"]["member"] = 1; }),
              HasSubstr("pairs of pipelines that the experiment has"));
  EXPECT_EQ(trouble([](json& saved) { saved["configurations"][0]["assigned"] = 1; }),
            "result.configurations[0].assigned is 1, where a list is expected");
  EXPECT_EQ(trouble([](json& saved) { saved["settings"]["tail"] = 1; }),
            "result.settings.tail is 1, where a number between 0 and 1 is expected");
  EXPECT_THAT(trouble([](json& saved) { saved["configurations"][0]["members"] = json::array(); }),
              HasSubstr("a list of one pipeline at least"));
}

TEST(saved_experiment, of_an_earlier_version_has_assignments_without_their_texts) {
  auto saved = json::parse(sample_text());
  for (auto& configuration : saved["configurations"]) configuration.erase("assigned");
  saved.erase("sources");
  const auto back = experiment_from(json_part(saved, "result"));
  EXPECT_EQ(back.configurations[1].assignments, sample_experiment().configurations[1].assignments);
  saved["configurations"][0]["assignments"] = 1;
  EXPECT_THROW(experiment_from(json_part(saved, "result")), input_error);
}

TEST(experiment_json, becomes_no_larger_than_announced) {
  auto record = sample_experiment();
  experiment_plan planned;
  planned.how.trials = 2;
  for (std::size_t i = 0; i < 2; ++i) {
    plan member;
    member.run.frames = 1000;
    member.stages.resize(3);
    planned.configurations.push_back({record.configurations[i], {std::move(member)}});
  }
  for (auto& trial : record.trials) trial.members = {two_models(timing_method::event, 1000)};
  const auto size = experiment_json(record, sample_summary(), {}).size();
  EXPECT_LE(size, expected_experiment_json_bytes(planned));
  EXPECT_GE(2 * size, expected_experiment_json_bytes(planned));
}

}  // namespace
}  // namespace graphline
