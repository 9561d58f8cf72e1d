#include "framework/report/store/result_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "framework/base/error.hpp"
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

  static json event_json() { return json::parse(result_json(two_models(timing_method::event, 6))); }
};

TEST_F(result_reader, shows_where_json_is_broken) {
  EXPECT_EQ(refusal("{\"schema\": \"graphline.run/1\",\n \"pipeline\": two_models}\n"),
            ":2:15: error: this is not JSON as 'graphline run --json' writes it: invalid literal; "
            "last read: '\"pipeline\": tw'\n"
            "    2 |  \"pipeline\": two_models}\n"
            "      |               ^");
}

TEST_F(result_reader, says_that_a_file_was_cut_off) {
  const auto whole = result_json(two_models(timing_method::event, 6));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("error: this is not JSON"));
  EXPECT_THAT(refusal("{\"schema\": "), HasSubstr(":1:12: error: "));
  EXPECT_THAT(refusal("{\"schema\": "), HasSubstr("it ends too early"));
}

TEST_F(result_reader, refuses_beginnings_of_a_result_without_a_crash) {
  const auto whole = result_json(two_models(timing_method::event, 2));
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
  const auto run = write("run.json", result_json(two_models(timing_method::event, 5)));
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
