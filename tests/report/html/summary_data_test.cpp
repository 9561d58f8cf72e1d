#include "framework/report/html/summary_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "framework/report/terminal/run_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/html/page_records.hpp"
#include "tests/report/roofline_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;

json summary_of(const run_record& record) {
  return summary_data(record, analyze(record), floors(evaluate_roofline(record)));
}

/// The words of the first line of the terminal's table that begins with `name`.
std::vector<std::string> table_row(const run_record& record, const std::string& name) {
  std::istringstream lines(run_table(record));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name, 0) != 0) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

/// The figure of that name; null without one.
json figure_of(const json& data, std::string_view name) {
  for (const auto& figure : data["figures"]) {
    if (figure["name"] == name) return figure;
  }
  return {};
}

TEST(summary_data, has_the_figures_of_the_terminal) {
  for (const auto method : {timing_method::host, timing_method::sync, timing_method::event}) {
    const auto record = samples::two_models(method, 300);
    const auto data = summary_of(record);
    EXPECT_EQ(data["end_to_end"]["unit"], "ms");
    for (const auto& row : data["stages"]["rows"]) {
      const auto words = table_row(record, row["name"]);
      for (const std::size_t cell : {0, 1, 2, 3, 5}) {  // mean, stddev, p50, p90, max
        EXPECT_THAT(words, testing::Contains(row["cells"][cell].get<std::string>()));
      }
      EXPECT_THAT(words, testing::Contains(row["time_is"].get<std::string>()));
      EXPECT_THAT(words, testing::Contains(row["share"].get<std::string>()));
    }
  }
}

TEST(summary_data, names_what_the_sample_does_not_carry) {
  const auto data = summary_of(samples::two_models(timing_method::event, 45));
  EXPECT_EQ(figure_of(data, "p95")["value"], "-");
  EXPECT_EQ(figure_of(data, "p99")["note"], "needs 299 frames, there are 45");
  EXPECT_EQ(data["notes"][0], "-: too few frames: p95 needs 59, p99 needs 299");
  EXPECT_THAT(figure_of(data, "p50")["note"].get<std::string>(),
              testing::StartsWith("half of the frames took longer; 95 %: "));
}

TEST(summary_data, tells_what_became_of_a_schedule) {
  const auto record = samples::two_models_on_schedule(300);
  const auto data = summary_of(record);
  const auto summary = summarize(record);
  EXPECT_EQ(figure_of(data, "deadline missed")["value"], std::to_string(summary.deadline->missed));
  EXPECT_EQ(figure_of(data, "deadline missed")["tone"], "bad");
  EXPECT_EQ(figure_of(data, "frames dropped")["value"], "2");
  EXPECT_EQ(figure_of(data, "frames dropped")["unit"], "of 302");
  EXPECT_THAT(figure_of(data, "queue wait")["note"].get<std::string>(),
              HasSubstr("at most 2 frames waited"));
  EXPECT_THAT(figure_of(data, "throughput")["note"].get<std::string>(),
              HasSubstr("frame/s were due"));
}

TEST(summary_data, has_no_figure_that_grows_with_the_run) {
  const auto data = summary_of(samples::overloaded_two_models(300));
  EXPECT_EQ(figure_of(data, "queue wait")["value"], "-");
  EXPECT_THAT(
      figure_of(data, "queue wait")["note"].get<std::string>(),
      testing::StartsWith("overloaded: latency grows with the run's length; 7.18 s (worst"));
  for (const auto& row : data["stages"]["rows"]) EXPECT_EQ(row["share"], "-");
  auto few = samples::two_models_on_schedule(4);
  EXPECT_EQ(figure_of(summary_of(few), "throughput")["value"], "-");
}

TEST(summary_data, has_nothing_of_stages_that_are_not_timed) {
  const auto data = summary_of(samples::two_models(timing_method::none, 45));
  EXPECT_FALSE(data.contains("stages"));
  EXPECT_TRUE(data.contains("end_to_end"));
}

TEST(summary_data, tells_a_copy_from_a_stage) {
  auto record = samples::two_models(timing_method::event, 10);
  record.stages[2].copy = true;
  const auto rows = summary_of(record)["stages"]["rows"];
  EXPECT_EQ(rows[0]["what"], "device");
  EXPECT_EQ(rows[1]["what"], "cpu");
  EXPECT_EQ(rows[2]["what"], "copy");
  EXPECT_EQ(rows[1]["place"], "CPU");
  EXPECT_EQ(rows[2]["place"], "main");
}

TEST(summary_data, has_floors_of_device_stages_where_there_is_a_calibration) {
  const auto data = summary_of(samples::calibrated_two_models().stages);
  const auto& rows = data["stages"]["rows"];
  EXPECT_EQ(rows[0]["least"], "62.4");
  EXPECT_EQ(rows[0]["ratio"], "1.12x");
  EXPECT_FALSE(rows[1].contains("ratio"));
  EXPECT_EQ(rows[2]["ratio"], "0.86x");
  EXPECT_THAT(data["notes"].dump(), HasSubstr("calibrated on 2026-03-14"));

  const auto without = summary_of(samples::uncalibrated().stages);
  for (const auto& row : without["stages"]["rows"]) EXPECT_FALSE(row.contains("least"));
  EXPECT_THAT(without["notes"].dump(), testing::Not(HasSubstr("calibrated")));
}

TEST(detail_data, has_floors_of_parts_where_there_is_a_calibration) {
  const auto record = samples::calibrated_two_models().layers;
  const auto rows =
      detail_data(record, summarize(record), floors(evaluate_roofline(record)))["parts"][0]["rows"];
  EXPECT_EQ(rows[0]["least"], "48.8");
  EXPECT_EQ(rows[0]["ratio"], "1.08x");
  EXPECT_EQ(rows[1]["ratio"], "1.28x");
}

TEST(detail_data, has_parts_and_operations_where_they_were_taken) {
  const auto record = samples::in_detail();
  const auto data = detail_data(record, summarize(record), floors(evaluate_roofline(record)));
  ASSERT_EQ(data["parts"].size(), 1u);
  const auto& parts = data["parts"][0];
  EXPECT_EQ(parts["stage"], "backbone");
  EXPECT_EQ(parts["unit"], "ms");
  EXPECT_EQ(parts["rows"][0]["name"], "0.conv2d+1.gelu");
  EXPECT_EQ(parts["rows"][0]["share"], "75.0");
  EXPECT_EQ(data["operations"]["runs"], 10);
  EXPECT_EQ(data["operations"]["rows"][0][2], "2");
  EXPECT_EQ(data["operations"]["rows"][1], json({"backbone", "gelu", "1", "9000", "9000"}));

  const auto plain = samples::two_models(timing_method::event, 10);
  EXPECT_TRUE(detail_data(plain, summarize(plain), floors(evaluate_roofline(plain))).empty());
}

}  // namespace
}  // namespace graphline
