#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/roofline_records.hpp"

// Data of a run.
namespace graphline::report {
namespace {

using json = nlohmann::ordered_json;
using samples::two_models;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

json of(const run_record& record) {
  return json::parse(result_json(record));
}

json stage_of(const json& result, std::size_t index) {
  return result["stages"][index];
}

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

TEST(describe_run, has_the_keys_of_the_contract) {
  const auto result = of(two_models(timing_method::event, 45));
  EXPECT_TRUE(result_json(run_record{}).starts_with("{\n"));
  EXPECT_EQ(result["schema"], "graphline.run/1");
  for (const char* key : {"pipeline", "device", "settings", "environment", "memory", "end_to_end",
                          "throughput", "stages", "outputs", "warnings", "record"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_THAT(keys(result["end_to_end"]),
              ElementsAre("unit", "count", "mean", "stddev", "min", "p50", "p90", "p95", "p99",
                          "p99.9", "p99.99", "max", "needs", "intervals"));
  EXPECT_THAT(keys(stage_of(result, 0)),
              AllOf(Contains("device_time"), Contains("enqueue_time"), Contains("kind")));
  EXPECT_THAT(keys(stage_of(result, 1)), AllOf(Contains("cpu_time"), Not(Contains("device_time"))));
  EXPECT_TRUE(result["outputs"][0]["shape"][0].is_number());
  EXPECT_GT(result["memory"]["device_peak_bytes"], 0);
}

TEST(describe_run, has_null_and_what_it_needs_for_a_percentile_the_sample_does_not_carry) {
  const auto times = of(two_models(timing_method::event, 45))["end_to_end"];
  EXPECT_TRUE(times["p90"].is_number());
  EXPECT_TRUE(times["p95"].is_null());
  EXPECT_EQ(times["needs"], (json{{"p95", 59}, {"p99", 299}, {"p99.9", 2995}, {"p99.99", 29956}}));
  const auto none = of(two_models(timing_method::event, 0));
  EXPECT_EQ(none["end_to_end"]["count"], 0);
  EXPECT_TRUE(none["end_to_end"]["mean"].is_null());
  EXPECT_TRUE(none["throughput"]["value"].is_null());
}

TEST(describe_run, has_the_roofline_of_stages_and_parts) {
  const auto stages = of(samples::calibrated_two_models().layers)["stages"];
  // 5.9 and 1.65 GFLOP at 121 GFLOP/s.
  EXPECT_NEAR(stages[0]["roofline_time"].get<double>(), 7.55 / 121 * 1e3, 1e-5);
  EXPECT_EQ(stages[0]["bound"], "compute");
  EXPECT_NEAR(stages[0]["ratio"].get<double>(),
              stages[0]["device_time"]["p50"].get<double>() / (7.55 / 121 * 1e3), 1e-6);
  EXPECT_NEAR(stages[0]["parts"][1]["roofline_time"].get<double>(), 1.65 / 121 * 1e3, 1e-5);
  EXPECT_FALSE(stages[1].contains("roofline_time"));
  EXPECT_EQ(stages[2]["bound"], "memory");
}

TEST(describe_run, says_of_an_overload_why_figures_are_absent) {
  const auto result = of(samples::overloaded_two_models(300));
  const auto& times = result["end_to_end"];
  EXPECT_TRUE(times["p50"].is_null());
  EXPECT_EQ(times["why_absent"], "overloaded: latency grows with the run's length");
  EXPECT_FALSE(times.contains("needs"));
  EXPECT_EQ(times["count"], 300);
  const auto& frames = result["record"]["frames"];
  // Two frames of 74 ms with 5 us between them; the second is due after 50 ms.
  EXPECT_EQ(frames["end"][1].get<std::int64_t>() - frames["due"][1].get<std::int64_t>(),
            98'005'000);
  EXPECT_EQ(result["load"]["overloaded"], true);
  EXPECT_NEAR(result["load"]["latency_growth"].get<double>(), 480.1, 1e-6);
  EXPECT_EQ(result["findings"][0]["key"], "overloaded");
  EXPECT_EQ(result["attributed"]["mean"], 74.0);
  for (const auto& row : result["attribution"]) EXPECT_NE(row["what"], "queue_wait");
  EXPECT_EQ(of(samples::two_models_on_schedule(45))["load"]["overloaded"], false);
}

TEST(describe_run, says_how_a_run_ended) {
  auto record = two_models(timing_method::event, 3);
  EXPECT_EQ(of(record)["interrupted"], false);
  EXPECT_TRUE(of(record)["failure"].is_null());
  EXPECT_FALSE(of(record).contains("deadline"));
  record.interrupted = true;
  record.failure = "stage 'noise' failed in frame 3";
  record.run.deadline = 1'000'000;
  const auto result = of(record);
  EXPECT_EQ(result["interrupted"], true);
  EXPECT_EQ(result["failure"], "stage 'noise' failed in frame 3");
  EXPECT_EQ(result["deadline"]["limit"], 1.0);
  EXPECT_EQ(result["deadline"]["missed"], 3);
  EXPECT_EQ(result["deadline"]["frames"], 3);
  EXPECT_EQ(result["settings"]["deadline_ns"], 1'000'000);
  EXPECT_FALSE(result["settings"].contains("unit"));
}

TEST(describe_run, counts_the_same_missed_deadlines_in_every_place) {
  auto record = samples::two_models_on_schedule(45);
  record.run.deadline = 1'000'000;
  record.load.unfinished = {record.frames.back().end - 5'000'000, record.frames.back().end};
  record.load.ended = record.frames.back().end;
  const auto dropped = record.load.dropped.size();
  ASSERT_GT(dropped, 0U);
  const auto missed = 45 + dropped + 1;
  const auto result = of(record);
  EXPECT_EQ(result["deadline"]["missed"], missed);
  EXPECT_EQ(result["deadline"]["frames"], missed);
  EXPECT_EQ(result["load"]["due"], 45 + dropped + 2);
  EXPECT_EQ(result["load"]["unfinished"], 2);
  const auto text = as_text(describe(record));
  EXPECT_THAT(text, HasSubstr(fmt::format("missed by {0} of {0} frames", missed)));
  EXPECT_THAT(text, ContainsRegex(fmt::format("deadline missed +{0} ", missed)));
}

}  // namespace
}  // namespace graphline::report
