#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/report/json/record_json.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/random_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::two_models;
using ::testing::HasSubstr;

/// Two configurations, two trials of each.
experiment_record sample_experiment() {
  experiment_record record;
  record.name = "sync_vs_event";
  record.description = "What waiting costs.";
  record.how.trials = 2;
  record.how.time_limit = 90'000'000'000;
  record.how.horizon = 2'000'000'000;
  record.files = {{"sync_vs_event.yaml", "0000000000000001"}, {"device", "host"}};
  record.configurations = {
      {"timing=event in_flight=2", {{"timing", "event"}, {"in_flight", "2"}}, {"two_models"}},
      {"timing=sync in_flight=2", {{"timing", "sync"}, {"in_flight", "2"}}, {"two_models"}}};
  record.pairs = {{{1, 0}, {0, 0}}};
  record.chains = {{"brake", {{"two_models", "backbone"}, {"two_models", "head"}}, 5, {}}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto method = i % 2 == 0 ? timing_method::event : timing_method::sync;
    const auto begun = static_cast<nanoseconds>(i) * 200'000'000;
    record.trials.push_back({i % 2, i / 2, begun, {two_models(method, 2)}});
  }
  record.stopped = "the time limit of 90 s was reached";
  return record;
}

any_record experiment_from(const json& value) {
  return record_from(any_record(experiment_record()).index(), json_part(value, "record"));
}

/// The error of reading a changed record.
template <class Change>
std::string trouble(Change change) {
  auto value = json::parse(result_json(sample_experiment()))["record"];
  change(value);
  try {
    experiment_from(value);
  } catch (const input_error& e) {
    return e.what();
  }
  return "read";
}

TEST(saved_experiment, reads_back_as_it_was) {
  auto record = sample_experiment();
  record.name = "\"名前\"\n";
  record.failure = "its process is gone";
  record.how.narrow_to = 0.01;
  record.how.seed = ~std::uint64_t{0};
  record.how.repeat_affected = record.interrupted = true;
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    record.trials[i].members = samples::random_trial(i, 1, 3).members;
  }
  record.configurations[1].assignments.emplace_back("rate", "0.10");
  const auto saved = json::parse(result_json(record));
  const auto back = std::get<experiment_record>(experiment_from(saved["record"]));
  EXPECT_EQ(record_json(&back), record_json(&record));
}

TEST(saved_experiment, that_is_damaged_is_refused_with_the_reason) {
  EXPECT_EQ(trouble([](json& saved) { saved = json::array(); }),
            "record is a list, where an object is expected");
  EXPECT_EQ(trouble([](json& saved) { saved["settings"].erase("margin"); }),
            "record.settings lacks 'margin'");
  EXPECT_EQ(trouble([](json& saved) { saved["trials"][3]["configuration"] = 2; }),
            "record.trials[3].configuration is 2, where one of the configurations is expected");
  EXPECT_THAT(trouble([](json& saved) { saved["trials"][1]["members"].clear(); }),
              HasSubstr("record.trials[1].members has 0 entries, where the configuration has 1"));
  EXPECT_THAT(trouble([](json& saved) { saved["pairs"][0]["what"]["member"] = 1; }),
              HasSubstr("pairs of pipelines that the experiment has"));
  EXPECT_EQ(trouble([](json& saved) { saved["chains"][0].erase("age_ns"); }),
            "record.chains[0] lacks 'age_ns'");
  EXPECT_EQ(trouble([](json& saved) { saved["configurations"][0]["assignments"] = 1; }),
            "record.configurations[0].assignments is 1, where a list is expected");
  EXPECT_EQ(trouble([](json& saved) { saved["settings"]["tail"] = 1; }),
            "record.settings.tail is 1, where a number between 0 and 1 is expected");
  EXPECT_THAT(trouble([](json& saved) { saved["configurations"][0]["members"] = json::array(); }),
              HasSubstr("a list of one pipeline at least"));
}

}  // namespace
}  // namespace graphline
