#include "framework/analysis/experiment/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_sweep.hpp"

namespace graphline {
namespace {

using samples::figures_of;
using samples::for_runs_of;
using samples::laptop_calibration;
using samples::made_sweep;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::optional<sweep> swept(const experiment_record& record) {
  return sweep_of(record, figures_of(record));
}

void for_all_runs(experiment_record& record, const std::function<void(run_record&)>& change) {
  for (std::size_t c = 0; c < record.configurations.size(); ++c) for_runs_of(record, c, change);
}

/// Changes the value of the swept parameter in each configuration.
void rename(experiment_record& record, const std::vector<std::string>& values) {
  for (std::size_t c = 0; c < values.size(); ++c) {
    record.configurations[c].name = "kernel=" + values[c];
    record.configurations[c].assignments = {{"kernel", values[c]}};
  }
}

std::vector<double> values_of(const sweep& of) {
  std::vector<double> values;
  for (const auto& point : of.points) values.push_back(point.value);
  return values;
}

TEST(sweep, has_cost_intensity_and_rate_of_each_value) {
  const auto found = swept(made_sweep());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, "kernel");
  EXPECT_EQ(found->what, measure::device_time);
  EXPECT_THAT(values_of(*found), ElementsAre(1, 3, 5, 7, 9, 11));
  const auto& point = found->points[1];
  EXPECT_EQ(point.text, "3");
  EXPECT_EQ(point.flops, 169'869'312);
  EXPECT_EQ(point.bytes, 1'347'456);
  EXPECT_DOUBLE_EQ(*point.intensity, 169'869'312.0 / 1'347'456);
  // 160 us plus 6 us per MFLOP, with the variation of synthetic trials.
  EXPECT_NEAR(*point.time, 1'179'216, 0.02 * 1'179'216);
  EXPECT_DOUBLE_EQ(*point.rate, 169'869'312e9 / *point.time);
}

TEST(sweep, compares_times_with_roofline_times_if_calibrated) {
  auto record = made_sweep();
  const auto alone = swept(record);
  ASSERT_TRUE(alone);
  for (const auto& point : alone->points) {
    EXPECT_FALSE(point.roofline_time || point.by || point.ratio);
  }
  record.calibration = laptop_calibration();
  const auto found = swept(record);
  ASSERT_TRUE(found);
  // 18.9 MFLOP at 200 GFLOP/s take less time than copying 1.2 MB at 9 GB/s and reading the rest at
  // 10; the FLOPs of 3x3 take more.
  EXPECT_EQ(found->points[0].by, bound::memory);
  EXPECT_DOUBLE_EQ(*found->points[0].roofline_time, 1'200'000 / 9.0 + 16'384 / 10.0);
  for (std::size_t i = 1; i < 6; ++i) {
    const auto& point = found->points[i];
    EXPECT_EQ(point.by, bound::compute);
    EXPECT_DOUBLE_EQ(*point.roofline_time, static_cast<double>(*point.flops) / 200);
    EXPECT_DOUBLE_EQ(*point.ratio, *point.time / *point.roofline_time);
  }
}

TEST(sweep, is_sorted_by_numeric_value) {
  auto record = made_sweep();
  rename(record, {"20", "0.5", "-3", "1e2", "7", "11"});
  const auto found = swept(record);
  ASSERT_TRUE(found);
  EXPECT_THAT(values_of(*found), ElementsAre(-3, 0.5, 7, 11, 20, 100));
  EXPECT_EQ(found->points.front().configuration, 2);
  EXPECT_EQ(found->points.back().text, "1e2");
}

TEST(sweep, is_none_for_values_that_are_not_numeric_or_equal) {
  for (const auto* odd : {"1ms", "three", "nan", "inf", "1.0", ""}) {
    auto record = made_sweep();
    rename(record, {"1", odd, "5", "7", "9", "11"});
    EXPECT_FALSE(swept(record)) << odd;
  }
}

TEST(sweep, is_none_if_anything_else_varies_or_pipelines_run_concurrently) {
  auto record = made_sweep();
  for_all_runs(record, [](run_record& run) { run.parameters = {{"size", "48"}}; });
  EXPECT_FALSE(swept(record));  // a setting varies
  record = made_sweep();
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    auto& of = record.configurations[c];
    of.assignments.emplace_back("size", c % 2 == 0 ? "48" : "64");
    of.name += " size=" + of.assignments.back().second;
  }
  EXPECT_FALSE(swept(record));
  record = made_sweep();
  record.configurations[0].members.emplace_back("another");
  for (auto& trial : record.trials) {
    if (trial.configuration == 0) trial.members.push_back(trial.members.front());
  }
  EXPECT_FALSE(swept(record));
}

TEST(sweep, requires_three_values_with_known_cost) {
  auto record = made_sweep();
  const auto forget = [](run_record& run) { run.stages.front().cost = {}; };
  for (std::size_t c = 0; c < 3; ++c) for_runs_of(record, c, forget);
  const auto found = swept(record);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->points.size(), 6);
  EXPECT_FALSE(found->points[0].flops || found->points[0].intensity || found->points[0].rate);
  EXPECT_TRUE(found->points[0].time);
  for_runs_of(record, 3, forget);
  EXPECT_FALSE(swept(record));
  record = made_sweep();
  record.trials.clear();
  EXPECT_FALSE(swept(record));
}

TEST(sweep, uses_end_to_end_times_if_stages_are_not_timed) {
  for (const auto method : {timing_method::none, timing_method::host}) {
    auto record = made_sweep();
    record.calibration = laptop_calibration();
    for_all_runs(record, [&](run_record& run) { run.run.timing = method; });
    const auto summary = figures_of(record);
    const auto found = sweep_of(record, summary);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->what);
    const auto& frames = summary.configurations[0].members[0].end_to_end;
    EXPECT_EQ(found->points[0].time, static_cast<double>(*frames->percentile(0.5)));
    // End-to-end times include launches and waits, so they are not compared with roofline times.
    EXPECT_TRUE(found->points[0].roofline_time);
    EXPECT_FALSE(found->points[0].ratio);
  }
}

TEST(sweep, excludes_copies) {
  auto record = made_sweep();
  const auto before = swept(record);
  for_all_runs(record, [](run_record& run) {
    auto copy = run.stages.front();
    copy.name = "copy";
    copy.copy = true;
    copy.cost = {.flops = 0, .bytes_read = 1 << 30, .bytes_written = 1 << 30};
    run.stages.push_back(copy);
  });
  const auto found = swept(record);
  ASSERT_TRUE(found);
  for (std::size_t i = 0; i < found->points.size(); ++i) {
    EXPECT_EQ(found->points[i].bytes, before->points[i].bytes);
    EXPECT_EQ(found->points[i].time, before->points[i].time);
  }
}

TEST(sweep, adds_up_the_stages_of_a_frame) {
  auto record = made_sweep();
  const auto before = swept(record);
  for_all_runs(record, [](run_record& run) {
    run.stages.push_back(run.stages.front());
    run.stages.back().name = "again";
  });
  const auto found = swept(record);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->points[2].flops, 2 * *before->points[2].flops);
  EXPECT_DOUBLE_EQ(*found->points[2].time, 2 * *before->points[2].time);
  for_all_runs(record, [](run_record& run) { run.stages.back().cost.flops.reset(); });
  EXPECT_FALSE(swept(record));
  for_all_runs(record, [](run_record& run) {
    // The sum of two overflows 64 bits.
    for (auto& stage : run.stages) stage.cost.flops = std::int64_t{1} << 62;
  });
  EXPECT_FALSE(swept(record));
}

TEST(sweep, does_not_compare_outputs_of_different_sizes) {
  auto record = made_sweep();
  EXPECT_THAT(samples::findings(record), Not(Contains(HasSubstr("reference=kernel=1"))));
  // A parameter that does not change the amount of work must not change the outputs.
  for_all_runs(record, [](run_record& run) {
    run.stages.front().cost = {.flops = 1000, .bytes_read = 100, .bytes_written = 100};
  });
  EXPECT_THAT(samples::findings(record), Contains(HasSubstr("reference=kernel=1")));
}

}  // namespace
}  // namespace graphline
