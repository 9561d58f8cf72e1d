#include "framework/report/store/record_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/sample_rows.hpp"
#include "tests/report/random_records.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_calibrations.hpp"
#include "tests/report/sample_capacity.hpp"
#include "tests/report/sample_roofline.hpp"
#include "tests/report/sample_validation.hpp"
#include "tests/report/store/result_files.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::made_experiment;
using samples::two_models;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class record_reader : public samples::result_files {
 protected:
  template <class Record>
  Record saved(const Record& record) const {
    return std::get<Record>(read_record(write("r.json", result_json(record))));
  }

  /// Writes a record and reads it back.
  template <class Record>
  Record expect_equal_documents(const Record& record) const {
    auto back = saved(record);
    const auto again = report::describe(back);
    const auto first = report::describe(record);
    EXPECT_EQ(report::as_text(again), report::as_text(first));
    EXPECT_EQ(report::as_csv(again), report::as_csv(first));
    EXPECT_EQ(result_json(back), result_json(record));
    EXPECT_TRUE(report::as_html(again) == report::as_html(first)) << "the pages differ";
    return back;
  }

  void expect_equal_reports(const run_record& record) const {
    const auto back = expect_equal_documents(record);
    EXPECT_EQ(run_csv(back), run_csv(record));
    EXPECT_TRUE(trace_json(back) == trace_json(record)) << "the traces differ";
  }

  void expect_equal_reports(const experiment_record& record) const {
    EXPECT_EQ(experiment_csv(expect_equal_documents(record)), experiment_csv(record));
  }

  void expect_equal_reports(const calibration_record& record) const {
    const auto back =
        std::get<calibration_record>(read_record(write("c.json", calibration_json(record))));
    EXPECT_EQ(report::as_text(report::describe(back)), report::as_text(report::describe(record)));
    EXPECT_EQ(calibration_json(back), calibration_json(record));
  }

  /// The error for a text that is not a record, without the path.
  std::string refusal(const std::string& text) const {
    const auto path = write("a.json", text);
    try {
      read_record(path);
    } catch (const input_error& problem) {
      const std::string message = problem.what();
      EXPECT_THAT(message, StartsWith(path + ":"));
      return message.substr(path.size());
    }
    return "none";
  }

  template <class Change>
  std::string refusal_of_run(Change change) const {
    auto value = run_value();
    change(value);
    return refusal(value.dump());
  }

  static run_record sample_run() {
    auto run = two_models(timing_method::event, 4);
    samples::add_graphs(run);
    samples::add_operations(run);
    run.calibration = sample_calibration();
    run.stages[0].cost = {947'000'000'000, 822'000'000, 1'000'000, precision::tf32};
    return run;
  }
  static calibration sample_calibration() {
    return {"2026-11-21 08:00:00 UTC",
            {{ceiling::read, precision::float32, 1.2e10, 1.1e10, 1.25e10},
             {ceiling::matmul, precision::bfloat16, 9e13, 8e13, 9.5e13},
             {ceiling::launch, precision::float32, 2500, 3100, 2400}},
            {"oneDNN was 2.6.2, is 2.6.3"}};
  }

  static json run_value() { return json::parse(result_json(sample_run())); }
};

TEST_F(record_reader, gives_the_reports_that_the_run_itself_gave) {
  for (const auto method :
       {timing_method::none, timing_method::host, timing_method::sync, timing_method::event}) {
    SCOPED_TRACE(to_word(method));
    expect_equal_reports(two_models(method, 45));
  }
  expect_equal_reports(samples::two_models_in_parts(7));
  expect_equal_reports(samples::two_models_on_schedule(30));
  expect_equal_reports(two_models(timing_method::event, 0));
  expect_equal_reports(sample_run());
  auto held = two_models(timing_method::event, 4);
  held.stages[1].causes.assign(4, cause::dropped_frame);
  held.stages[1].preferred.assign(4, choice::held_back);
  expect_equal_reports(held);
}

TEST_F(record_reader, gives_the_reports_of_whatever_a_run_holds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal_reports(samples::random_trial(seed, 1, seed % 7).members[0]);
  }
}

TEST_F(record_reader, gives_the_same_reports_of_names_that_are_no_text) {
  auto run = sample_run();
  run.pipeline = "a\xff\xfe, \"b\"\r\n\xe7";
  run.description = run.stages[0].name = run.device.name = run.outputs[0].tensor = run.pipeline;
  run.warnings = {run.pipeline};
  expect_equal_reports(run);
}

TEST_F(record_reader, gives_the_reports_that_the_experiment_itself_gave) {
  auto record = samples::two_strategies();
  expect_equal_reports(record);
  record = made_experiment("<b>\"名前\"</b>\n",
                           {samples::made_of({{"rate", "0.10"}}),
                            samples::made_of({{"rate", "0.20"}}, samples::taking(90'000'000))},
                           6);
  record.sources = {{"x.yaml", "experiment: \"x\"\n"}};
  record.calibration = sample_calibration();
  record.stopped = "the time limit was reached";
  record.interrupted = true;
  expect_equal_reports(record);
  for (auto& trial : record.trials) trial.members[0].stages[0].name = "\xff<b>";
  expect_equal_reports(record);
  record.trials.clear();
  expect_equal_reports(record);
}

TEST_F(record_reader, names_the_key_that_a_file_lacks_its_version_and_the_remedy) {
  EXPECT_EQ(refusal_of_run([](json& run) { run.erase("record"); }),
            ": error: result lacks 'record' (graphline 0.1.0 wrote it); make it again with "
            "'graphline run'");
  EXPECT_EQ(refusal_of_run([](json& run) {
              run["environment"].erase("graphline");
              run["record"]["settings"].erase("guard");
            }),
            ": error: result.record.settings lacks 'guard'; make it again with 'graphline run'");
}

TEST_F(record_reader, refuses_a_file_that_lacks_a_key_unless_that_holds_nothing) {
  const auto whole = run_value()["record"];
  const std::set<std::string> may_hold_nothing = {
      "source",   "conditions", "calibration", "launches", "ended_by",
      "enqueued", "device",     "threads",     "causes",   "seen"};
  for (const char* object : {"", "/settings", "/device", "/stages/0", "/stages/0/operations/0",
                             "/stages/0/cost", "/graphs/0", "/tensors/0", "/load"}) {
    const json::json_pointer place(object);
    for (const auto& [key, value] : whole.at(place).items()) {
      if (may_hold_nothing.contains(key)) continue;
      EXPECT_THAT(
          refusal_of_run([&, &key = key](json& run) { run["record"].at(place).erase(key); }),
          HasSubstr(" lacks '" + key + "' (graphline 0.1.0 wrote it); make it again"))
          << object;
    }
  }
}

TEST_F(record_reader, makes_the_same_reports_of_a_calibration) {
  for (auto record : {samples::host_calibration(), samples::gpu_calibration()}) {
    record.environment.emplace_back("date", "2026-11-20T12:00:00Z");
    expect_equal_reports(record);
  }
}

TEST_F(record_reader, makes_the_same_reports_of_a_roofline) {
  auto record = samples::two_models_roofline(20);
  expect_equal_documents(record);
  run_record not_run;
  not_run.run.timing = timing_method::layers;
  not_run.device = record.stages.device;
  record.layers = not_run;
  record.stages.failure = "the device was lost";
  expect_equal_documents(record);
}

TEST_F(record_reader, makes_the_same_reports_of_a_capacity_search) {
  auto record = samples::two_models_capacity({6, 33.33});
  record.runs[1].cut_off = true;
  record.runs[0].members.front().load.dropped = {1, 2, 3};
  record.conditions = conditions_record{.lasted = 10'000'000'000, .cores = 2, .others = 1};
  record.interrupted = true;
  record.closed_loop->failure = "stage 'noise' failed in frame 3";
  expect_equal_documents(record);
}

TEST_F(record_reader, makes_the_same_reports_of_a_validation) {
  auto record = samples::two_models_validation(6);
  record.interrupted = true;
  expect_equal_documents(record);
}

TEST_F(record_reader, names_what_a_roofline_and_a_search_lack) {
  auto cut = json::parse(result_json(samples::two_models_roofline(5)));
  cut["record"]["stages"]["stages"][0]["parts"][0].erase("name");
  EXPECT_THAT(refusal(cut.dump()),
              HasSubstr("result.record.stages.stages[0].parts[0] lacks 'name'"));
  auto search = json::parse(result_json(samples::two_models_capacity({6})));
  search["record"]["how"]["percentile"] = 1.0;
  EXPECT_THAT(refusal(search.dump()), HasSubstr("result.record.how.percentile is 1"));
}

TEST_F(record_reader, says_what_it_reads_where_a_file_is_no_such_result) {
  const char* reads =
      "reads graphline.run/1, graphline.experiment/1, graphline.roofline/1, "
      "graphline.calibration/1, graphline.capacity/1, graphline.validation/1, "
      "graphline.inspect/1 and graphline.ranks/1, as --json writes them";
  for (const char* schema : {"graphline.run/2", "graphline.diff/1", "trace"}) {
    EXPECT_THAT(refusal(json{{"schema", schema}}.dump()),
                AllOf(HasSubstr("this is '" + std::string(schema) + "'; "), HasSubstr(reads)));
  }
  EXPECT_THAT(refusal("{}"), AllOf(HasSubstr("does not say its 'schema'"), HasSubstr(reads)));
}

TEST_F(record_reader, says_of_another_kind_of_file_what_takes_it) {
  for (const char* text :
       {"pipeline: two_models\nstages: []\n", "# JSON?\n{}", "[]", "\n\x89PNG"}) {
    EXPECT_THAT(refusal(text), AllOf(HasSubstr("this is no result: results are JSON files"),
                                     HasSubstr("'graphline run' takes a pipeline")));
  }
}

TEST_F(record_reader, shows_where_json_is_broken_or_cut_off) {
  EXPECT_THAT(refusal("{\"schema\": \"graphline.run/1\",\n two_models}\n"),
              StartsWith(":2:3: error: this is not JSON as --json writes it"));
  const auto whole = result_json(sample_run());
  for (std::size_t length = 1; length + 1 < whole.size(); length += 41) {
    EXPECT_NE(refusal(whole.substr(0, length)), "none") << length;
  }
}

TEST_F(record_reader, names_what_cannot_be) {
  struct {
    const char* where;
    json value;
    const char* refusal;
  } const cases[] = {
      {"/frames/end/2", 5, "frames.end[2] is 5, which is before result.record.frames.begin[2], "},
      {"/stages/0/device/begin/1", 1LL << 60,
       "stages[0].device.begin[1] is 1152921504606846976, where nanoseconds of 104 days at most is "
       "expected"},
      {"/stages/0/threads/1", 7, "stages[0].threads[1] is 7, where an index below 1 is expected"},
      {"/stages/2/waits/0/stage", 2,
       "stages[2].waits[0].stage is 2, where an index below 2 is expected"},
      {"/tensors/0/readers/0", 3, "tensors[0].readers[0] is 3, where an index below 3"},
      {"/stages/0/enqueued/end", json::array({1, 2, 3}), "stages[0].enqueued.end has 3 entries"},
      {"/settings/rate", 0, "settings.rate is 0, where a rate from 0.000001"},
      {"/settings/rate", 1e-12, "settings.rate is 1e-12, where a rate"},
      {"/outputs/0/shape", json::array({1LL << 40, 1LL << 40}),
       "outputs[0].shape is a list, where the shape of"},
      {"/graphs/0/executables", 1 << 20, "graphs[0].executables is 1048576"},
      {"/stages/0/traced_runs", 0, "stages[0].traced_runs is 0"},
      {"/stages/0/cost/flops", 1LL << 57,
       "stages[0].cost.flops is 144115188075855872, where a number from 0 to"},
      {"/stages/0/cost/bytes_read", -1, "stages[0].cost.bytes_read is -1"},
      {"/stages/0/cost/precision", "int4", "stages[0].cost.precision is \"int4\""},
      {"/calibration/ceilings/1/value", 0,
       "calibration.ceilings[1].value is 0, where a number from 0.001 to 10^18"},
      {"/calibration/ceilings/0/best", "nan", "calibration.ceilings[0].best is \"nan\""},
      {"/calibration", json::object(), "calibration lacks 'date'"},
      {"/graphs/0/nodes", json::array({{{"name", ""}, {"type", ""}, {"after", {0}}}}),
       "graphs[0].nodes[0].after[0] is 0"}};
  for (const auto& [where, value, refused] : cases) {
    SCOPED_TRACE(where);
    EXPECT_THAT(refusal_of_run([&, &where = where, &value = value](json& run) {
                  run["record"][json::json_pointer(where)] = value;
                }),
                StartsWith(std::string(": error: result.record.") + refused));
  }
}

TEST_F(record_reader, names_rows_that_contradict_each_other) {
  auto run = samples::recognizer({1, 9, skipped, 0});
  run.outputs = {{.tensor = "texts", .type = {{4, 2}, dtype::int64}, .checksum = "0", .rows = 1}};
  expect_equal_reports(run);
  const auto whole = json::parse(result_json(run));
  struct {
    const char* where;
    json value;
    const char* refusal;
  } const cases[] = {
      {"/stages/1/capacity", 9,
       "stages[1].capacity is 9, where 4, the rows of the last bucket, is expected"},
      {"/stages/1/capacity", 0, "stages[1].rows[1] is 9, where 1 or -1 is expected"},
      {"/stages/1/buckets/0/rows", 0,
       "stages[1].buckets[0].rows is 0, where a number above 0 is expected"},
      {"/stages/1/buckets/0/rows", 4,
       "stages[1].buckets[1].rows is 4, where a number above 4 is expected"},
      {"/stages/1/buckets/1/rows", 5, "stages[1].capacity is 4, where 5, the rows of"},
      {"/stages/3/rows/0", 2, "stages[3].rows[0] is 2, where 1 or -1 is expected"},
      {"/outputs/0/rows", 5, "outputs[0].rows is 5, where a number of rows below 5 is expected"}};
  for (const auto& [where, value, refused] : cases) {
    SCOPED_TRACE(where);
    auto damaged = whole;
    damaged["record"][json::json_pointer(where)] = value;
    EXPECT_THAT(refusal(damaged.dump()),
                StartsWith(std::string(": error: result.record.") + refused));
  }
}

}  // namespace
}  // namespace graphline
