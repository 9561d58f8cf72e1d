#include "framework/report/json/run_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/roofline_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using samples::expect_golden;
using samples::two_models;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

std::vector<std::string> first(std::size_t count, std::vector<std::string> list) {
  list.resize(count);
  return list;
}

json of(const run_record& record) {
  return json::parse(run_json(record));
}

TEST(run_json, is_written_as_ever) {
  expect_golden("run_event.json", run_json(two_models(timing_method::event, 6)));
}

TEST(run_json, names_parts_and_gives_their_times_where_they_were_taken) {
  auto record = samples::two_models_in_parts(7);
  const auto parts = of(record)["stages"][0]["parts"];
  EXPECT_EQ(parts[0]["name"], "0.conv2d+1.gelu");
  EXPECT_EQ(parts[0]["choice"], "cuDNN engine 8, workspace 2 MiB");
  EXPECT_EQ(parts[0]["device_time"]["count"], 7);
  EXPECT_NEAR(parts[0]["share"].get<double>(), 0.75, 1e-6);
  for (auto& part : record.stages[0].parts) part.device.clear();
  EXPECT_THAT(keys(of(record)["stages"][0]["parts"][0]), ElementsAre("name", "choice"));
  EXPECT_FALSE(of(record)["stages"][1].contains("parts"));
}

TEST(run_json, holds_stages_and_parts_against_their_floors_where_there_is_a_calibration) {
  const auto stages = of(samples::calibrated_two_models().layers)["stages"];
  const auto& backbone = stages[0]["roofline"];
  EXPECT_THAT(keys(backbone), ElementsAre("unit", "least", "bound", "ratio"));
  EXPECT_EQ(backbone["unit"], "ms");
  // 5.9 and 1.65 GFLOP at 121 GFLOP/s.
  EXPECT_NEAR(backbone["least"].get<double>(), 7.55 / 121 * 1e3, 1e-5);
  EXPECT_EQ(backbone["bound"], "compute");
  EXPECT_NEAR(backbone["ratio"].get<double>(),
              stages[0]["device_time"]["p50"].get<double>() / backbone["least"].get<double>(),
              1e-6);
  const auto& linear = stages[0]["parts"][1]["roofline"];
  EXPECT_NEAR(linear["least"].get<double>(), 1.65 / 121 * 1e3, 1e-5);
  EXPECT_FALSE(stages[1].contains("roofline"));
  EXPECT_EQ(stages[2]["roofline"]["bound"], "memory");
}

TEST(run_json, has_a_floor_without_a_ratio_for_what_was_not_measured) {
  auto record = two_models(timing_method::host, 7);
  const auto calibrated = samples::calibrated_two_models().stages;
  record.calibration = calibrated.calibration;
  record.stages[0].cost = calibrated.stages[0].cost;
  const auto stages = of(record)["stages"];
  EXPECT_NEAR(stages[0]["roofline"]["least"].get<double>(), 7.55 / 121 * 1e3, 1e-5);
  EXPECT_TRUE(stages[0]["roofline"]["ratio"].is_null());
  EXPECT_FALSE(stages[2].contains("roofline"));  // its cost is not known
}

TEST(run_json, has_no_floors_without_a_calibration) {
  const auto stages = of(samples::uncalibrated().layers)["stages"];
  ASSERT_FALSE(stages.empty());
  for (const auto& stage : stages) {
    EXPECT_FALSE(stage.contains("roofline"));
  }
}

TEST(run_json, tells_what_graphs_cost_and_what_was_not_measured_of_them) {
  auto record = two_models(timing_method::event, 5);
  EXPECT_TRUE(of(record)["graphs"].empty());
  samples::add_graphs(record);
  record.graphs[1].eager = {9'000, 9'000};
  const auto graphs = of(record)["graphs"];
  EXPECT_THAT(keys(graphs[0]), ElementsAre("name", "nodes", "operations", "executables",
                                           "capture_ns", "instantiate_ns", "first_launch_ns",
                                           "later_launch_ns", "launch_ns", "eager_ns"));
  EXPECT_EQ(graphs[0]["nodes"].size(), 7U);
  EXPECT_EQ(graphs[0]["nodes"][1]["name"], "layer");
  EXPECT_EQ(graphs[0]["nodes"][1]["type"], "operation");
  EXPECT_THAT(graphs[0]["nodes"][1]["after"], ElementsAre(0));
  EXPECT_EQ(graphs[0]["launch_ns"], 2'500);
  EXPECT_EQ(graphs[0]["eager_ns"], 9'500);
  EXPECT_TRUE(graphs[1]["eager_ns"].is_null());
}

TEST(run_json, holds_traced_operations_and_the_clocks_error) {
  auto record = two_models(timing_method::event, 5);
  EXPECT_FALSE(of(record)["stages"][0].contains("operations"));
  samples::add_operations(record);
  record.clock_drift = -20;
  const auto result = of(record);
  const auto& operation = result["stages"][0]["operations"][0];
  EXPECT_THAT(keys(operation), ElementsAre("name", "calls_per_frame", "median_ns", "together_ns"));
  EXPECT_EQ(operation["calls_per_frame"], 2);
  EXPECT_EQ(operation["median_ns"], 20'000'000);
  EXPECT_EQ(operation["together_ns"], 60'000'000);
  EXPECT_EQ(result["clock"]["error_ns"], 80);
  EXPECT_EQ(result["clock"]["drift_ns"], -20);
}

TEST(run_json, has_the_keys_of_the_contract_in_their_order) {
  const auto result = of(two_models(timing_method::event, 45));
  EXPECT_TRUE(run_json({}).starts_with(json_beginning));
  EXPECT_THAT(first(11, keys(result)),
              ElementsAre("schema", "pipeline", "device", "settings", "environment", "memory",
                          "end_to_end", "throughput", "stages", "outputs", "warnings"));
  EXPECT_THAT(first(9, keys(result["settings"])),
              ElementsAre("strategy", "graphs", "timing", "in_flight", "wait", "frames", "warmup",
                          "seed", "params"));
  const auto shape = {"unit", "count", "mean", "stddev", "min", "p50",
                      "p90",  "p95",   "p99",  "p99.9",  "max", "samples"};
  EXPECT_THAT(first(12, keys(result["end_to_end"])), ElementsAreArray(shape));
  const auto& stages = result["stages"];
  EXPECT_THAT(first(5, keys(stages[0])),
              ElementsAre("name", "kind", "on", "device_time", "enqueue_time"));
  EXPECT_THAT(first(12, keys(stages[0]["device_time"])), ElementsAreArray(shape));
  EXPECT_THAT(first(4, keys(stages[1])), ElementsAre("name", "kind", "on", "cpu_time"));
  EXPECT_THAT(first(3, keys(result["outputs"][0])), ElementsAre("tensor", "shape", "checksum"));
  EXPECT_THAT(first(2, keys(result["memory"])), ElementsAre("device_peak_bytes", "pinned_bytes"));
}

TEST(run_json, names_each_stage_time_by_what_it_is) {
  const auto host = of(two_models(timing_method::host, 5));
  EXPECT_TRUE(host["stages"][0].contains("enqueue_time"));
  EXPECT_FALSE(host["stages"][0].contains("device_time"));
  const auto sync = of(two_models(timing_method::sync, 5));
  EXPECT_TRUE(sync["stages"][0].contains("synchronized_time"));
  EXPECT_FALSE(sync["stages"][0].contains("enqueue_time"));
  const auto none = of(two_models(timing_method::none, 5));
  EXPECT_FALSE(none["stages"][1].contains("cpu_time"));
}

TEST(run_json, keeps_every_sample_to_the_nanosecond) {
  samples::frame_times f;
  f.end_to_end = 70'123'456;
  samples::frame_times g;
  g.end_to_end = 1;
  const auto text = run_json(samples::run_of(timing_method::event, {f, g}));
  const auto samples = json::parse(text)["end_to_end"]["samples"];
  EXPECT_EQ(samples[0], 70.123456);
  EXPECT_EQ(samples[1], 0.000001);
  EXPECT_NE(text.find("\"samples\": [70.123456, 1e-06]"), std::string::npos);
}

TEST(run_json, has_null_and_what_it_needs_for_a_percentile_the_sample_does_not_carry) {
  const auto e2e = of(two_models(timing_method::event, 45))["end_to_end"];
  EXPECT_TRUE(e2e["p90"].is_number());
  EXPECT_TRUE(e2e["p95"].is_null());
  EXPECT_EQ(e2e["needs"], (json{{"p95", 59}, {"p99", 299}, {"p99.9", 2995}}));
  EXPECT_FALSE(of(two_models(timing_method::event, 2995))["end_to_end"].contains("needs"));
}

TEST(run_json, of_no_frames_has_null_and_not_zero) {
  const auto result = of(two_models(timing_method::event, 0));
  EXPECT_EQ(result["end_to_end"]["count"], 0);
  EXPECT_TRUE(result["end_to_end"]["mean"].is_null());
  EXPECT_TRUE(result["end_to_end"]["samples"].empty());
  EXPECT_TRUE(result["throughput"]["value"].is_null());
  EXPECT_TRUE(result["stages"][0]["device_time"]["max"].is_null());
}

TEST(run_json, gives_parameters_their_type) {
  auto record = two_models(timing_method::none, 1);
  record.parameters = {{"batch", "8"},  {"scale", "0.5"}, {"fast", "true"},
                       {"mode", "007"}, {"text", "nan"},  {"list", "[1]"}};
  EXPECT_EQ(of(record)["settings"]["params"], (json{{"batch", 8},
                                                    {"scale", 0.5},
                                                    {"fast", true},
                                                    {"mode", "007"},
                                                    {"text", "nan"},
                                                    {"list", "[1]"}}));
}

TEST(run_json, writes_any_name_so_that_it_can_be_read_back) {
  auto record = two_models(timing_method::event, 1);
  record.pipeline = "a \"quoted\"\nname \\ with a tab\t";
  record.stages[0].name = "\xff\xc3";
  record.environment = {{"bad \xff key", "bad \xfe text"}};
  const auto result = of(record);
  EXPECT_EQ(result["pipeline"], record.pipeline);
  EXPECT_EQ(result["stages"][0]["name"], "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(result["environment"]["bad \xef\xbf\xbd key"], "bad \xef\xbf\xbd text");
}

TEST(run_json, says_how_a_run_ended) {
  auto record = two_models(timing_method::event, 3);
  EXPECT_EQ(of(record)["interrupted"], false);
  EXPECT_TRUE(of(record)["failure"].is_null());
  EXPECT_FALSE(of(record).contains("deadline"));
  record.interrupted = true;
  record.failure = "stage 'noise' failed in frame 3";
  record.run.deadline = 1'000'000;
  EXPECT_EQ(of(record)["interrupted"], true);
  EXPECT_EQ(of(record)["failure"], "stage 'noise' failed in frame 3");
  EXPECT_EQ(of(record)["deadline"]["limit"], 1.0);
  EXPECT_EQ(of(record)["deadline"]["missed"], 3);
  EXPECT_EQ(of(record)["settings"]["deadline_ms"], 1.0);
}

TEST(run_json, tells_of_frames_that_were_due_on_a_schedule) {
  EXPECT_FALSE(of(two_models(timing_method::event, 3)).contains("load"));
  const auto record = samples::two_models_on_schedule(3);
  const auto result = of(record);
  const auto& load = result["load"];
  EXPECT_EQ(load["due"], 5);
  EXPECT_EQ(load["dropped"], 2);
  EXPECT_EQ(load["dropped_due_ms"][0], static_cast<double>(record.load.dropped[0]) / 1e6);
  EXPECT_EQ(load["found_full"], 2);
  EXPECT_EQ(load["longest_queue"], 2);
  EXPECT_EQ(load["queue_wait"]["count"], 3);
  EXPECT_EQ(load["queue_wait"]["samples"][1],
            static_cast<double>(record.frames[1].begin - record.frames[1].due) / 1e6);
  EXPECT_EQ(result["settings"]["arrival"], "constant");
  EXPECT_EQ(result["settings"]["rate"], 13.5);
  EXPECT_EQ(result["settings"]["queue"], 2);
  EXPECT_EQ(result["settings"]["when_full"], "drop_newest");
  EXPECT_EQ(result["processor_time_ms"], 5200);
}

TEST(run_json, has_null_for_percentiles_that_grow_with_the_run_and_says_why) {
  const auto result = of(samples::overloaded_two_models(300));
  const auto& times = result["end_to_end"];
  for (const char* key : {"mean", "stddev", "p50", "p90", "p95", "p99", "p99.9"}) {
    EXPECT_TRUE(times[key].is_null()) << key;
  }
  EXPECT_EQ(times["why_absent"], "overloaded: latency grows with the run's length");
  EXPECT_FALSE(times.contains("needs"));
  EXPECT_TRUE(times["intervals"].empty());
  EXPECT_EQ(times["samples"].size(), 300U);
  EXPECT_EQ(times["samples"][1], 98.005);  // two of 74 ms and 5 us between them, due after 50 ms
  EXPECT_EQ(result["load"]["overloaded"], true);
  EXPECT_NEAR(result["load"]["latency_growth"]["value"].get<double>(), 480.1, 1e-6);
  EXPECT_EQ(result["findings"].size(), 1U);
  const auto& wait = result["load"]["queue_wait"];
  for (const char* key : {"mean", "p50", "p95", "p99"}) EXPECT_TRUE(wait[key].is_null()) << key;
  EXPECT_EQ(wait["why_absent"], times["why_absent"]);
  EXPECT_FALSE(result["stages"][0].contains("share"));
  const auto& where = result["attribution"];
  for (const char* key : {"mean", "typical", "slowest"}) {
    EXPECT_TRUE(where["end_to_end"][key].is_null()) << key;
    EXPECT_EQ(where["begin_to_end"][key], 74.0) << key;
  }
  EXPECT_EQ(where["end_to_end"]["why_absent"], times["why_absent"]);
  for (const auto& row : where["rows"]) EXPECT_NE(row["what"], "queue_wait");
  EXPECT_EQ(of(samples::two_models_on_schedule(45))["load"]["overloaded"], false);
}

TEST(run_json, has_null_for_the_throughput_of_a_few_frames_of_a_schedule_and_says_why) {
  auto record = two_models(timing_method::event, 4);
  record.run.arrival = arrival::constant;
  record.run.rate = 10;
  EXPECT_EQ(of(record)["throughput"],
            (json{{"unit", "frame/s"},
                  {"value", nullptr},
                  {"why_absent", "too few frames: on a schedule it needs 5"}}));
}

TEST(run_json, has_the_interval_of_each_percentile_that_is_carried) {
  const auto intervals = of(two_models(timing_method::event, 300))["end_to_end"]["intervals"];
  EXPECT_THAT(keys(intervals), ElementsAre("p50", "p90", "p95", "p99"));
  EXPECT_LE(intervals["p50"]["low"].get<double>(), intervals["p50"]["high"].get<double>());
  EXPECT_TRUE(intervals["p99"]["high"].is_null());  // 368 frames carry it at the least
}

TEST(run_json, keeps_elements_of_the_outputs_and_null_for_those_that_are_no_number) {
  auto record = two_models(timing_method::none, 1);
  record.outputs[0].values = {0.5, std::numeric_limits<double>::quiet_NaN(), -1};
  EXPECT_EQ(of(record)["outputs"][0]["values"], (json{0.5, nullptr, -1.0}));
}

TEST(run_json, becomes_no_larger_than_announced) {
  const auto size = run_json(two_models(timing_method::event, 1000)).size();
  EXPECT_LE(size, expected_json_bytes(1000, 3));
  EXPECT_GE(2 * size, expected_json_bytes(1000, 3));
  EXPECT_LE(run_json(samples::two_models_on_schedule(998)).size(), expected_json_bytes(1000, 3));
}

}  // namespace
}  // namespace graphline
