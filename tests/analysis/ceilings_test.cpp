#include "framework/analysis/roofline/ceilings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace graphline {
namespace {

using texts = std::vector<std::string>;

calibration_record measured() {
  calibration_record record;
  record.device.backend = "cuda";
  record.device.name = "A GPU";
  record.device.details = {{"CUDA of the driver", "12.4"}, {"CUDA runtime", "13.0"}};
  record.environment = {{"graphline", "0.5.0"},  {"date", "2026-01-31T12:00:00Z"},
                        {"system", "Linux 6.1"}, {"processor", "A processor"},
                        {"cores", "2"},          {"compiler", "12.2.0"},
                        {"oneTBB", "2021.8"},    {"oneDNN", "2.6.2"}};
  return record;
}

std::string& entry(std::vector<std::pair<std::string, std::string>>& of, const std::string& name) {
  for (auto& [key, value] : of) {
    if (key == name) return value;
  }
  return of.emplace_back(name, "").second;
}

TEST(ceilings, are_figures_at_the_median_and_the_tenths_by_nearest_rank) {
  calibration_record record;
  record.ceilings = {{ceiling::read, precision::float32, "", 1e6, {}}};
  for (int i = 20; i >= 1; --i) record.ceilings[0].times.push_back(i * 1000);
  const auto figures = figures_of(record);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].what, ceiling::read);
  EXPECT_DOUBLE_EQ(figures[0].value, 1e6 * 1e9 / 10'000);
  EXPECT_DOUBLE_EQ(figures[0].worst, 1e6 * 1e9 / 18'000);
  EXPECT_DOUBLE_EQ(figures[0].best, 1e6 * 1e9 / 2'000);
}

TEST(ceilings, of_durations_are_nanoseconds_a_call_and_best_where_least) {
  calibration_record record;
  record.ceilings = {{ceiling::launch, precision::float32, "", 100, {300, 100, 200}}};
  const auto figures = figures_of(record);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_DOUBLE_EQ(figures[0].best, 1);
  EXPECT_DOUBLE_EQ(figures[0].value, 2);
  EXPECT_DOUBLE_EQ(figures[0].worst, 3);
}

TEST(ceilings, keep_the_arithmetic_and_leave_out_what_was_not_measured) {
  calibration_record record;
  record.ceilings = {{ceiling::read, precision::float32, "", 1, {}},
                     {ceiling::matmul, precision::bfloat16, "", 2e9, {1'000'000'000}},
                     {ceiling::round_trip, precision::float32, "", 0, {7}}};
  const auto figures = figures_of(record);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0], (ceiling_figure{ceiling::matmul, precision::bfloat16, 2e9, 2e9, 2e9}));
}

TEST(ceilings, are_finite_where_the_clock_saw_no_time_pass) {
  calibration_record record;
  record.ceilings = {{ceiling::read, precision::float32, "", 4, {0}}};
  EXPECT_DOUBLE_EQ(figures_of(record).at(0).value, 4e9);
}

TEST(stale_reasons, are_none_on_the_machine_that_was_measured) {
  const auto record = measured();
  EXPECT_EQ(stale_reasons(record, record.device, record.environment), texts{});
}

TEST(stale_reasons, name_each_thing_that_differs) {
  const auto record = measured();
  auto device = record.device;
  auto environment = record.environment;
  device.name = "Another GPU";
  device.compute_threads = 2;
  entry(device.details, "CUDA of the driver") = "13.0";
  entry(environment, "graphline") = "0.6.0";
  entry(environment, "processor") = "Another processor";
  entry(environment, "oneDNN") = "2.6.3";
  EXPECT_EQ(
      stale_reasons(record, device, environment),
      (texts{"the device was A GPU, is Another GPU", "compute threads were 0, are 2",
             "CUDA of the driver was 12.4, is 13.0", "graphline was 0.5.0, is 0.6.0",
             "processor was A processor, is Another processor", "oneDNN was 2.6.2, is 2.6.3"}));
}

TEST(stale_reasons, name_the_backend) {
  const auto record = measured();
  auto device = record.device;
  device.backend = "host";
  EXPECT_EQ(stale_reasons(record, device, record.environment),
            texts{"the backend was cuda, is host"});
}

TEST(stale_reasons, leave_out_what_has_no_part_and_what_only_one_side_knows) {
  const auto record = measured();
  auto environment = record.environment;
  for (const char* name : {"system", "cores", "compiler", "oneTBB", "commit", "host name"}) {
    entry(environment, name) = "another";
  }
  entry(environment, "cuDNN") = "9.19";
  std::erase(environment, std::pair<std::string, std::string>("oneDNN", "2.6.2"));
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
}

TEST(stale_reasons, name_a_calibration_from_before_writing_was_measured) {
  auto record = measured();
  record.ceilings = {{ceiling::copy, precision::float32, "", 1, {1}}};
  const auto reasons = stale_reasons(record, record.device, record.environment);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_NE(reasons[0].find("measured only reading and copying"), std::string::npos);
  record.ceilings.push_back({ceiling::write, precision::float32, "", 1, {1}});
  EXPECT_EQ(stale_reasons(record, record.device, record.environment), texts{});
}

TEST(stale_reasons, name_an_age_above_90_days) {
  const auto record = measured();
  auto environment = record.environment;
  entry(environment, "date") = "2026-05-01T12:00:00Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
  entry(environment, "date") = "2026-05-02T12:00:00Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{"it is 91 days old"});
}

TEST(stale_reasons, name_a_date_that_is_to_come_by_more_than_a_clock_is_set) {
  const auto record = measured();
  auto environment = record.environment;
  entry(environment, "date") = "2026-01-30T12:00:01Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
  entry(environment, "date") = "2026-01-30T12:00:00Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment),
            texts{"its date is 1 day in the future"});
  entry(environment, "date") = "2025-01-31T12:00:00Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment),
            texts{"its date is 365 days in the future"});
}

TEST(stale_reasons, do_not_guess_an_age_from_a_date_that_is_none) {
  const auto record = measured();
  auto environment = record.environment;
  entry(environment, "date") = "yesterday";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
}

}  // namespace
}  // namespace graphline
