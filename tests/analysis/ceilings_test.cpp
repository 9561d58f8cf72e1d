#include "framework/analysis/roofline/ceilings.hpp"

#include <gtest/gtest.h>

#include <set>
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

TEST(ceilings, are_taken_at_p50_p10_and_p90_by_nearest_rank) {
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

TEST(ceilings, are_best_where_smallest_for_durations) {
  calibration_record record;
  record.ceilings = {{ceiling::launch, precision::float32, "", 100, {300, 100, 200}}};
  const auto figures = figures_of(record);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_DOUBLE_EQ(figures[0].best, 1);
  EXPECT_DOUBLE_EQ(figures[0].value, 2);
  EXPECT_DOUBLE_EQ(figures[0].worst, 3);
}

TEST(ceilings, keep_the_precision_and_omit_ceilings_without_samples) {
  calibration_record record;
  record.ceilings = {{ceiling::read, precision::float32, "", 1, {}},
                     {ceiling::matmul, precision::bfloat16, "", 2e9, {1'000'000'000}},
                     {ceiling::round_trip, precision::float32, "", 0, {7}}};
  const auto figures = figures_of(record);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0], (ceiling_figure{ceiling::matmul, precision::bfloat16, 2e9, 2e9, 2e9}));
}

TEST(ceilings, are_finite_for_zero_times) {
  calibration_record record;
  record.ceilings = {{ceiling::read, precision::float32, "", 4, {0}}};
  EXPECT_DOUBLE_EQ(figures_of(record).at(0).value, 4e9);
}

TEST(stale_reasons, name_each_thing_that_differs) {
  const auto record = measured();
  auto device = record.device;
  auto environment = record.environment;
  device.backend = "host";
  device.name = "Another GPU";
  device.compute_threads = 2;
  entry(device.details, "CUDA of the driver") = "13.0";
  entry(environment, "graphline") = "0.6.0";
  entry(environment, "processor") = "Another processor";
  entry(environment, "oneDNN") = "2.6.3";
  EXPECT_EQ(
      stale_reasons(record, device, environment),
      (texts{"the backend was cuda, is host", "the device was A GPU, is Another GPU",
             "the number of compute threads was 0, is 2", "CUDA of the driver was 12.4, is 13.0",
             "graphline was 0.5.0, is 0.6.0", "processor was A processor, is Another processor",
             "oneDNN was 2.6.2, is 2.6.3"}));
}

TEST(stale_reasons, omit_irrelevant_and_one_sided_entries) {
  const auto record = measured();
  auto environment = record.environment;
  for (const char* name : {"system", "cores", "compiler", "oneTBB", "commit", "host name"}) {
    entry(environment, name) = "another";
  }
  entry(environment, "cuDNN") = "9.19";
  std::erase(environment, std::pair<std::string, std::string>("oneDNN", "2.6.2"));
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
}

TEST(stale_reasons, name_an_age_above_90_days) {
  const auto record = measured();
  auto environment = record.environment;
  entry(environment, "date") = "2026-05-01T12:00:00Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
  entry(environment, "date") = "2026-05-02T12:00:00Z";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{"it is 91 days old"});
  entry(environment, "date") = "yesterday";
  EXPECT_EQ(stale_reasons(record, record.device, environment), texts{});
}

TEST(ceiling_label, names_the_precision_only_of_rates) {
  EXPECT_EQ(label_of(ceiling::convolution, precision::float16), "convolution, float16");
  EXPECT_EQ(label_of(ceiling::matmul, precision::float32), "matrix product, float32");
  EXPECT_EQ(label_of(ceiling::host_to_device_pageable, precision::float32),
            "host to device, pageable");
}

TEST(ceiling_label, is_unique_and_differs_from_the_word_in_files) {
  std::set<std::string> labels;
  for (const auto& [word, what] : ceiling_words) {
    const auto label = label_of(what, precision::float32);
    EXPECT_EQ(label.find_first_of("_?"), std::string::npos) << label;
    EXPECT_TRUE(labels.insert(label).second) << label;
  }
}

constexpr auto float32 = precision::float32;

ceiling_figure figure(ceiling what, double value, double best, precision arithmetic = float32) {
  return {what, arithmetic, value, value / 2, best};
}

TEST(device_ceilings, are_the_higher_of_two_with_the_better_best_of_both) {
  const std::vector<ceiling_figure> measured = {
      figure(ceiling::read, 10e9, 13e9), figure(ceiling::copy, 12e9, 12.5e9),
      figure(ceiling::convolution, 90e9, 91e9), figure(ceiling::matmul, 80e9, 96e9)};
  const device_ceilings at(measured);
  ASSERT_TRUE(at.bandwidth);
  EXPECT_EQ(at.bandwidth->what, ceiling::copy);
  EXPECT_DOUBLE_EQ(at.bandwidth->value, 12e9);
  EXPECT_DOUBLE_EQ(at.bandwidth->best, 13e9);
  ASSERT_NE(at.rate(float32), nullptr);
  EXPECT_DOUBLE_EQ(at.rate(float32)->value, 90e9);
  EXPECT_DOUBLE_EQ(at.rate(float32)->best, 96e9);
  EXPECT_DOUBLE_EQ(at.compute[0].ridge_point, 7.5);
}

TEST(device_ceilings, have_a_compute_ceiling_per_measured_precision) {
  const std::vector<ceiling_figure> measured = {
      figure(ceiling::matmul, 40e12, 41e12, precision::float16), figure(ceiling::read, 1e12, 1e12),
      figure(ceiling::convolution, 10e12, 11e12)};
  const device_ceilings at(measured);
  ASSERT_EQ(at.compute.size(), 2U);
  EXPECT_EQ(at.compute[0].arithmetic, float32);
  EXPECT_EQ(at.compute[1].arithmetic, precision::float16);
  EXPECT_DOUBLE_EQ(at.compute[1].ridge_point, 40);
  EXPECT_EQ(at.rate(precision::tf32), nullptr);
}

TEST(device_ceilings, have_no_compute_ceilings_without_a_bandwidth) {
  const std::vector<ceiling_figure> measured = {figure(ceiling::matmul, 40e12, 41e12),
                                                figure(ceiling::device_to_host_pinned, 8e9, 9e9)};
  const device_ceilings at(measured);
  EXPECT_FALSE(at.bandwidth);
  EXPECT_TRUE(at.compute.empty());
  EXPECT_EQ(at.to_device, nullptr);
  EXPECT_EQ(at.to_host, &measured[1]);
}

TEST(device_ceilings, move_common_bytes_at_copy_bandwidth) {
  const std::vector<ceiling_figure> measured = {figure(ceiling::read, 20e9, 25e9),
                                                figure(ceiling::write, 40e9, 50e9),
                                                figure(ceiling::copy, 30e9, 32e9)};
  const device_ceilings at(measured);
  EXPECT_DOUBLE_EQ(at.time_to_move(20, 0).usual, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(25, 0).best, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(0, 40).usual, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(15, 15).usual, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(16, 16).best, 1);
  EXPECT_DOUBLE_EQ(at.time_to_move(15 + 20, 15).usual, 2);
  EXPECT_DOUBLE_EQ(at.time_to_move(15, 15 + 40).usual, 2);
}

TEST(device_ceilings, read_at_least_at_half_of_the_copy_bandwidth) {
  // A copy at 30 GB/s reads 15 GB/s, so the lower measured read bandwidth is wrong.
  const std::vector<ceiling_figure> measured = {figure(ceiling::read, 10e9, 10e9),
                                                figure(ceiling::copy, 30e9, 30e9)};
  EXPECT_DOUBLE_EQ(device_ceilings(measured).time_to_move(15, 0).usual, 1);
}

TEST(device_ceilings, substitute_missing_bandwidths) {
  const std::vector<ceiling_figure> old = {figure(ceiling::read, 20e9, 20e9),
                                           figure(ceiling::copy, 30e9, 30e9)};
  EXPECT_DOUBLE_EQ(device_ceilings(old).time_to_move(0, 30).usual, 1);
  const std::vector<ceiling_figure> one = {figure(ceiling::read, 20e9, 20e9)};
  EXPECT_DOUBLE_EQ(device_ceilings(one).time_to_move(10, 10).usual, 1);
}

}  // namespace
}  // namespace graphline
