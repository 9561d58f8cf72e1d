#include "framework/report/store/result_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/report/json/run_json.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_calibrations.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::two_models;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::StartsWith;

class result_reader : public samples::result_files {
 protected:
  /// Why a text is no result, without the path before it.
  std::string refusal(const std::string& text) {
    const auto path = write("a.json", text);
    try {
      read_result(path);
    } catch (const input_error& problem) {
      const std::string message = problem.what();
      EXPECT_THAT(message, StartsWith(path + ":"));
      return message.substr(path.size());
    }
    return "none";
  }

  std::string refusal_of(const json& value) { return refusal(value.dump()); }

  saved_run run_of(const run_record& record) {
    return std::get<saved_run>(read_result(write("run.json", run_json(record))));
  }

  static json event_json() { return json::parse(run_json(two_models(timing_method::event, 6))); }
};

TEST_F(result_reader, reads_every_figure_of_a_run) {
  auto record = two_models(timing_method::event, 45);
  record.environment.emplace_back("date", "2026-11-21T08:01:43Z");
  record.run.deadline = 74'000'000;
  const auto run = run_of(record);
  const auto expected = summarize(record);
  EXPECT_EQ(run.origin.schema, "graphline.run/1");
  EXPECT_EQ(run.origin.subject, "two_models");
  EXPECT_EQ(run.origin.date, "2026-11-21T08:01:43Z");
  EXPECT_THAT(run.origin.file, EndsWith("run.json"));
  EXPECT_EQ(run.end_to_end->count(), 45U);
  EXPECT_EQ(run.end_to_end->mean(), expected.end_to_end->mean());
  EXPECT_EQ(run.end_to_end->percentile(0.9), expected.end_to_end->percentile(0.9));
  EXPECT_EQ(run.throughput, expected.throughput);
  EXPECT_EQ(run.missed_deadline, expected.deadline->missed);
  EXPECT_EQ(run.device_peak_bytes, 36 << 20);
  EXPECT_EQ(run.pinned_peak_bytes, 1536 << 10);
  ASSERT_EQ(run.stages.size(), 3U);
  EXPECT_EQ(run.stages[0].name, "backbone");
  EXPECT_EQ(run.stages[0].what, measure::device_time);
  EXPECT_EQ(run.stages[0].times->median(), expected.stages[0].columns[0].times->median());
  EXPECT_EQ(run.stages[1].what, measure::cpu_time);
  EXPECT_EQ(run.outputs.at(0).checksum, "00c0ffee00c0ffee");
  EXPECT_THAT(run.outputs[0].shape, ElementsAre(1, 1));
  EXPECT_FALSE(run.interrupted);
  EXPECT_EQ(run.failure, std::nullopt);
}

TEST_F(result_reader, keeps_facts_apart_from_the_date) {
  auto record = two_models(timing_method::event, 5);
  record.environment.emplace_back("date", "2026-11-21T08:01:43Z");
  const auto origin = run_of(record).origin;
  EXPECT_THAT(origin.settings, Contains(Pair("params.batch", "1")));
  EXPECT_THAT(origin.settings, Contains(Pair("strategy", "async")));
  EXPECT_THAT(origin.settings, Contains(Pair("priorities", "true")));
  EXPECT_THAT(origin.device, Contains(Pair("details.arithmetic", "oneDNN 2.6.3")));
  EXPECT_THAT(origin.environment, Contains(Pair("system", "Linux 6.1")));
  EXPECT_THAT(origin.environment, Not(Contains(Key("date"))));
}

TEST_F(result_reader, reads_what_the_machine_was_disturbed_by) {
  auto record = two_models(timing_method::event, 5);
  EXPECT_EQ(run_of(record).origin.disturbed, "");
  record.warnings = {"output 'y' holds NaN or infinity"};
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2};
  record.conditions->others = 17'000'000'000;
  EXPECT_EQ(run_of(record).origin.disturbed, "other processes kept 1.70 of 2 cores busy");
}

TEST_F(result_reader, takes_what_each_timing_method_measures_for_a_stages_time) {
  EXPECT_EQ(run_of(two_models(timing_method::sync, 5)).stages[0].what, measure::synchronized_time);
  EXPECT_EQ(run_of(two_models(timing_method::host, 5)).stages[0].what, measure::enqueue_time);
  EXPECT_EQ(run_of(two_models(timing_method::none, 5)).stages[0].what, std::nullopt);
}

TEST_F(result_reader, reads_that_latency_grew_with_the_run) {
  const auto overloaded = run_of(samples::overloaded_two_models(300));
  EXPECT_EQ(overloaded.end_to_end->why_unsettled(),
            "overloaded: latency grows with the run's length");
  EXPECT_FALSE(overloaded.end_to_end->percentile(0.5));
  EXPECT_EQ(overloaded.end_to_end->count(), 300U);
  // As versions before wrote it.
  auto before = json::parse(run_json(samples::overloaded_two_models(300)));
  before["end_to_end"].erase("why_absent");
  before["end_to_end"].erase("intervals");
  const auto run = std::get<saved_run>(read_result(write("before.json", before.dump())));
  EXPECT_TRUE(run.end_to_end->percentile(0.5));
}

TEST_F(result_reader, reads_a_run_without_frames_and_one_that_failed) {
  auto record = two_models(timing_method::event, 0);
  record.failure = "stage 'noise', frame 0: no more memory";
  record.interrupted = true;
  const auto run = run_of(record);
  EXPECT_EQ(run.end_to_end, std::nullopt);
  EXPECT_EQ(run.throughput, std::nullopt);
  EXPECT_EQ(run.failure, record.failure);
  EXPECT_TRUE(run.interrupted);
}

TEST_F(result_reader, reads_the_values_of_outputs_where_there_are_any) {
  auto result = event_json();
  result["outputs"][0]["values"] = {1.5, nullptr, -2};
  const auto run = std::get<saved_run>(read_result(write("a.json", result.dump())));
  EXPECT_THAT(run.outputs.at(0).values, ElementsAre(Optional(1.5), std::nullopt, Optional(-2.0)));
}

TEST_F(result_reader, shows_where_json_is_broken) {
  EXPECT_EQ(refusal("{\"schema\": \"graphline.run/1\",\n \"pipeline\": two_models}\n"),
            ":2:15: error: this is not JSON as 'graphline run --json' writes it: invalid literal; "
            "last read: '\"pipeline\": tw'\n"
            "    2 |  \"pipeline\": two_models}\n"
            "      |               ^");
}

TEST_F(result_reader, says_that_a_file_was_cut_off) {
  const auto whole = run_json(two_models(timing_method::event, 6));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("error: this is not JSON"));
  EXPECT_THAT(refusal("{\"schema\": "), HasSubstr(":1:12: error: "));
  EXPECT_THAT(refusal("{\"schema\": "), HasSubstr("it ends too early"));
}

TEST_F(result_reader, refuses_beginnings_of_a_result_without_a_crash) {
  const auto whole = run_json(two_models(timing_method::event, 2));
  for (std::size_t length = 1; length + 1 < whole.size(); length += 7) {
    EXPECT_NE(refusal(whole.substr(0, length)), "none") << length;
  }
}

TEST_F(result_reader, refuses_files_that_are_no_results) {
  EXPECT_EQ(
      refusal("# A comment.\npipeline: two_models\n"),
      ": error: this is a pipeline, not a result; 'graphline run' with --json FILE makes one");
  EXPECT_EQ(refusal("pipeline: two_models.yaml\nexperiment: e\n"),
            ": error: this is an experiment, not a result; 'graphline compare' with --json FILE "
            "makes one");
  EXPECT_THAT(refusal("end_to_end,0,3\n"), HasSubstr(": error: this is no result; graphline "));
  EXPECT_THAT(refusal("[1, 2]"), HasSubstr("does not say its 'schema'"));
  EXPECT_THAT(refusal("{\"schema\": 3}"), HasSubstr("does not say its 'schema'"));
  EXPECT_EQ(refusal(""), ": error: the file is empty");
  EXPECT_THAT(refusal_of(json{{"schema", "nsight.report/4"}}),
              AllOf(HasSubstr("this is 'nsight.report/4'; graphline "),
                    HasSubstr("reads graphline.run/1, graphline.experiment/1, "
                              "graphline.calibration/1 and graphline.roofline/1")));
  EXPECT_THAT(refusal_of(json{{"schema", "graphline.diff/1"}}), HasSubstr("'graphline.diff/1'"));
  EXPECT_THAT(refusal("{\"schema\": \"a\", \"x\": 1e999}"), HasSubstr("number"));
}

TEST_F(result_reader, refuses_versions_that_it_does_not_know) {
  EXPECT_THAT(refusal_of(json{{"schema", "graphline.run/2"}}),
              StartsWith(": error: this is a run of another version, 'graphline.run/2'; "));
  EXPECT_THAT(refusal_of(json{{"schema", "graphline.run"}}), HasSubstr("another version"));
  EXPECT_THAT(refusal_of(json{{"schema", "graphline.run/"}}), HasSubstr("another version"));
}

TEST_F(result_reader, tells_trials_from_a_result) {
  const std::string header = "{\"schema\": \"graphline.trials/1\", \"name\": \"x\"}\n";
  EXPECT_THAT(refusal(header), AllOf(HasSubstr("trials of an experiment"), HasSubstr("--resume")));
  EXPECT_THAT(refusal(header + "{\"trial\": {}}\n"), HasSubstr("trials of an experiment"));
}

TEST_F(result_reader, names_the_key_that_is_missing_or_holds_something_else) {
  auto result = event_json();
  result["memory"].erase("pinned_peak_bytes");
  EXPECT_THAT(refusal_of(result), AllOf(StartsWith(": error: "), HasSubstr("memory"),
                                        HasSubstr("'pinned_peak_bytes'")));
  result = event_json();
  result["end_to_end"]["samples"][3] = "fast";
  EXPECT_THAT(refusal_of(result), AllOf(HasSubstr("end_to_end.samples"), HasSubstr("\"fast\"")));
  result = event_json();
  result["end_to_end"]["samples"][3] = -1;
  EXPECT_THAT(refusal_of(result), HasSubstr("a duration in milliseconds"));
  result = event_json();
  result["stages"][1].erase("name");
  EXPECT_THAT(refusal_of(result), AllOf(HasSubstr("stages[1]"), HasSubstr("'name'")));
  result = event_json();
  result["outputs"] = 3;
  EXPECT_THAT(refusal_of(result), HasSubstr("outputs"));
}

TEST_F(result_reader, survives_any_key_that_is_missing_or_of_another_kind) {
  const auto whole = event_json();
  for (const auto& [key, value] : whole.items()) {
    for (const auto& other : {json(), json(3), json("text"), json::array(), json::object()}) {
      auto changed = whole;
      changed[key] = other;
      refusal_of(changed);
      changed.erase(key);
      refusal_of(changed);
    }
  }
}

TEST_F(result_reader, compares_only_results_of_one_kind) {
  const auto run = write("run.json", run_json(two_models(timing_method::event, 5)));
  const auto experiment = write("e.json", experiment_json(samples::two_strategies()));
  EXPECT_NO_THROW(read_results(run, run));
  try {
    read_results(run, experiment);
    FAIL() << "a run and an experiment were taken";
  } catch (const input_error& problem) {
    EXPECT_THAT(problem.what(),
                AllOf(HasSubstr("run.json holds a run (graphline.run/1), "),
                      HasSubstr("e.json holds an experiment (graphline.experiment/1)"),
                      HasSubstr("'graphline run'"), HasSubstr("'graphline compare'")));
  }
  const auto calibration = write("c.json", calibration_json(samples::host_calibration()));
  EXPECT_NO_THROW(read_results(calibration, calibration));
  try {
    read_results(run, calibration);
    FAIL() << "a run and a calibration were taken";
  } catch (const input_error& problem) {
    EXPECT_THAT(problem.what(),
                AllOf(HasSubstr("c.json holds a calibration of a device (graphline.calibration/1)"),
                      HasSubstr("'graphline run' or both with 'graphline calibrate'")));
  }
}

}  // namespace
}  // namespace graphline
