#include "framework/analysis/roofline/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/made_roofline.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::in_two_parts;
using samples::made_run;
using samples::ms;
using samples::one_after_another;
using samples::round_calibration;
using samples::us;
using samples::work;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

/// Metrics of a run with one stage.
roofline_metrics figures_of(const made_run& made) {
  return evaluate_roofline(made.record)->stages.at(0).figures;
}

roofline_metrics figures_of(cost_record cost, nanoseconds measured) {
  auto made = one_after_another({{"x", measured}});
  made.record.stages[0].cost = cost;
  return figures_of(made);
}

TEST(roofline, is_empty_without_both_kinds_of_ceilings) {
  auto made = one_after_another({{"x", 1 * ms}});
  const auto whole = *made.record.calibration;
  made.record.calibration.reset();
  EXPECT_FALSE(evaluate_roofline(made.record));
  for (const auto in : {unit::bytes_per_second, unit::flops_per_second}) {
    auto cut = whole;
    std::erase_if(cut.ceilings, [&](const auto& figure) { return unit_of(figure.what) == in; });
    made.record.calibration = cut;
    EXPECT_FALSE(evaluate_roofline(made.record));
  }
}

TEST(roofline, compares_a_stage_with_the_ceilings_of_its_device) {
  auto made = one_after_another({{"a", 1 * ms}, {"b", 1 * ms}, {"c", 1 * ms}});
  auto& record = made.record;
  auto slower = *std::exchange(record.calibration, {});
  record.devices = {{"fast", record.device}, {"slow", record.device}, {"unknown", record.device}};
  record.devices[0].calibration = slower;
  for (auto& figure : slower.ceilings) figure.value /= 10, figure.best /= 10;
  record.devices[1].calibration = slower;
  for (std::size_t s = 0; s < 3; ++s) {
    record.stages[s].cost = work(1'000'000, 100'000'000);  // 0.1 ms at 1 TB/s
    record.stages[s].device_index = s;
  }
  const auto found = evaluate_roofline(record);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->devices, SizeIs(2));
  EXPECT_EQ(found->devices[1].device, 1);
  EXPECT_THAT(found->stages.at(0).figures.roofline_time, Optional(DoubleEq(0.1 * ms)));
  EXPECT_THAT(found->stages.at(1).figures.roofline_time, Optional(DoubleEq(1 * ms)));
  EXPECT_FALSE(found->stages.at(2).figures.roofline_time);
  EXPECT_THAT(found->stages.at(2).figures.measured, Optional(DoubleEq(1 * ms)));
  EXPECT_FALSE(found->roofline_time);
  EXPECT_THAT(found->by_gain, ElementsAre(0, 1));  // b is at its roofline
}

TEST(roofline, has_no_time_of_a_copy_between_gpus_but_one_between_host_devices) {
  auto made = one_after_another({{"copy", 2 * ms}});
  auto& record = made.record;
  record.devices = {{"a", record.device}, {"b", record.device}};
  record.devices[1].calibration = std::exchange(record.calibration, {});
  record.stages[0].copy = true;
  record.stages[0].device_index = 1;
  record.stages[0].cost = {0, 8'000'000, 8'000'000};
  record.tensors = {{"x", {}, side::device, std::nullopt, {0}}, {"y", {}, side::device, 0, {}}};
  EXPECT_FALSE(figures_of(made).roofline_time);
  record.devices[1].properties.compute_threads = 1;
  EXPECT_THAT(figures_of(made).roofline_time, Optional(DoubleEq(0.8 * ms)));
}

TEST(roofline, bounds_work_of_low_intensity_by_memory_and_of_high_by_compute) {
  const auto low = figures_of(work(1'000'000, 100'000'000), 1 * ms);  // memory time 0.1 ms
  EXPECT_THAT(low.intensity, Optional(DoubleEq(0.01)));
  EXPECT_EQ(low.by, bound::memory);
  EXPECT_THAT(low.roofline_time, Optional(DoubleEq(0.1 * ms)));
  EXPECT_THAT(low.compute_time, Optional(DoubleEq(20)));
  EXPECT_THAT(low.ratio, Optional(DoubleEq(10)));

  const auto high = figures_of(work(10'000'000'000, 100'000'000), 1 * ms);  // compute time 0.2 ms
  EXPECT_EQ(high.by, bound::compute);
  EXPECT_THAT(high.roofline_time, Optional(DoubleEq(0.2 * ms)));
  EXPECT_THAT(high.ratio, Optional(DoubleEq(5)));
}

TEST(roofline, has_a_memory_time_without_flops) {
  const auto figures =
      figures_of({.flops = {}, .bytes_read = 60'000'000, .bytes_written = 0}, 1 * ms);
  EXPECT_FALSE(figures.compute_time);
  EXPECT_FALSE(figures.intensity);
  EXPECT_THAT(figures.roofline_time, Optional(DoubleEq(0.06 * ms)));
  EXPECT_EQ(figures.by, bound::memory);
}

TEST(roofline, is_unknown_for_unknown_costs) {
  const auto nothing = figures_of({}, 1 * ms);
  EXPECT_FALSE(nothing.roofline_time);
  EXPECT_FALSE(nothing.by);
  EXPECT_FALSE(nothing.ratio);
  EXPECT_THAT(nothing.measured, Optional(DoubleEq(1 * ms)));

  const auto no_rate = figures_of(work(1'000'000'000, 1'000, precision::float16), 1 * ms);
  EXPECT_TRUE(no_rate.memory_time);
  EXPECT_FALSE(no_rate.compute_time);
  EXPECT_FALSE(no_rate.roofline_time);
}

TEST(roofline, has_no_ratio_without_work) {
  const auto figures = figures_of(work(0, 0), 1 * ms);
  EXPECT_THAT(figures.roofline_time, Optional(DoubleEq(0)));
  EXPECT_FALSE(figures.by);
  EXPECT_FALSE(figures.ratio);
  EXPECT_FALSE(figures.below_roofline);
}

TEST(roofline, uses_the_rate_of_the_precision) {
  auto made = one_after_another({{"x", 1 * ms}});
  made.record.stages[0].cost = work(10'000'000'000, 1'000, precision::float16);
  made.record.calibration->ceilings.push_back(
      {ceiling::matmul, precision::float16, 200e12, 190e12, 210e12});
  EXPECT_THAT(figures_of(made).roofline_time, Optional(DoubleEq(0.05 * ms)));
}

TEST(roofline, uses_the_transfer_bandwidth_of_a_copy_by_direction) {
  for (const auto from : {side::cpu, side::device}) {
    auto made = one_after_another({{"copy", 2 * ms}});
    made.record.stages[0].copy = true;
    made.record.stages[0].cost = {0, 8'000'000, 8'000'000};
    made.record.tensors = {{"x", {}, from, std::nullopt, {0}}, {"y", {}, side::cpu, 0, {}}};
    const auto figures = figures_of(made);
    EXPECT_EQ(figures.by, bound::transfer);
    EXPECT_THAT(figures.roofline_time, Optional(DoubleEq(from == side::cpu ? 0.8 * ms : 1 * ms)));
    EXPECT_THAT(figures.ratio, Optional(DoubleEq(from == side::cpu ? 2.5 : 2)));
    EXPECT_FALSE(figures.intensity);
  }
}

TEST(roofline, has_no_roofline_time_for_an_uncalibrated_transfer) {
  made_run made(strategy::async, timing_method::event);
  made.device_stage("copy", {}, "copies", true).frame(0, 2 * ms).launch(0, 0, 0);
  made.device(0, 0, 2 * ms);
  made.record.stages[0].cost = {0, 8'000'000, 8'000'000};
  made.record.tensors = {{"y", {}, side::device, 0, {}}};
  made.record.calibration = round_calibration();
  EXPECT_THAT(figures_of(made).roofline_time, Optional(DoubleEq(0.8 * ms)));
  std::erase_if(made.record.calibration->ceilings,
                [](const auto& figure) { return figure.what == ceiling::host_to_device_pinned; });
  EXPECT_FALSE(figures_of(made).roofline_time);
}

TEST(roofline, adds_up_the_roofline_times_of_parts) {
  const auto stage = evaluate_roofline(in_two_parts().record)->stages.at(0);
  EXPECT_THAT(stage.figures.roofline_time, Optional(DoubleEq(0.5 * ms)));
  EXPECT_EQ(stage.figures.by, bound::compute);
  EXPECT_THAT(stage.figures.ratio, Optional(DoubleEq(2)));
  ASSERT_THAT(stage.parts, SizeIs(2));
  EXPECT_EQ(stage.parts[0].figures.by, bound::compute);
  EXPECT_EQ(stage.parts[1].figures.by, bound::memory);
  EXPECT_FALSE(stage.parts[1].figures.measured);  // event does not time parts
}

TEST(roofline, uses_the_whole_stage_if_a_part_is_unknown) {
  auto made = in_two_parts();
  made.record.stages[0].parts[1].cost = {};
  const auto figures = evaluate_roofline(made.record)->stages.at(0).figures;
  EXPECT_THAT(figures.roofline_time, Optional(DoubleEq(20'001'000'000 / 50e3)));
}

TEST(roofline, takes_the_times_of_parts_from_the_run_under_layers) {
  const auto made = in_two_parts();
  auto layers = made.record;
  layers.run.timing = timing_method::layers;
  for (int f = 0; f < 5; ++f) {
    layers.stages[0].parts[0].device.push_back({0, 800 * us});
    layers.stages[0].parts[1].device.push_back({800 * us, 1100 * us});
  }
  const auto parts = evaluate_roofline(made.record, &layers)->stages.at(0).parts;
  EXPECT_THAT(parts[0].figures.ratio, Optional(DoubleEq(2)));
  EXPECT_THAT(parts[1].figures.ratio, Optional(DoubleEq(3)));
  EXPECT_THAT(evaluate_roofline(layers)->stages.at(0).parts[1].figures.ratio,
              Optional(DoubleEq(3)));

  layers.stages[0].parts[1].name = "another";
  EXPECT_FALSE(evaluate_roofline(made.record, &layers)->stages.at(0).parts[0].figures.measured);
  layers.stages.clear();
  EXPECT_FALSE(evaluate_roofline(made.record, &layers)->stages.at(0).parts[0].figures.measured);
}

TEST(roofline, has_no_measured_time_if_only_the_launch_is_timed) {
  auto made = one_after_another({{"x", 1 * ms}});
  made.record.stages[0].cost = work(0, 1'000'000);
  made.record.run.timing = timing_method::host;
  made.record.stages[0].enqueued.swap(made.record.stages[0].device);
  made.record.stages[0].device.clear();
  const auto summary = evaluate_roofline(made.record);
  EXPECT_FALSE(summary->stages[0].figures.measured);
  EXPECT_FALSE(summary->stages[0].share_of_path);
  EXPECT_THAT(summary->by_gain, IsEmpty());
  EXPECT_TRUE(summary->roofline_time);

  auto synced = one_after_another({{"x", 1 * ms}}, timing_method::sync);
  synced.record.stages[0].cost = work(0, 100'000'000);
  EXPECT_THAT(figures_of(synced).ratio, Optional(DoubleEq(10)));
}

TEST(roofline, has_no_measured_time_for_too_few_frames) {
  auto made = one_after_another({{"x", 2 * ms}});
  made.record.stages[0].cost = work(1'000'000, 100'000'000);
  ASSERT_THAT(made.record.stages[0].device, SizeIs(5));
  EXPECT_TRUE(figures_of(made).ratio);
  made.record.stages[0].device.pop_back();
  EXPECT_TRUE(figures_of(made).roofline_time);
  EXPECT_FALSE(figures_of(made).measured);
  EXPECT_FALSE(figures_of(made).ratio);
}

TEST(roofline, orders_stages_by_time_above_the_roofline_on_the_path) {
  auto made = one_after_another({{"near", 5 * ms}, {"far", 3 * ms}, {"open", 1 * ms}});
  made.record.stages[0].cost = work(0, 4'900'000'000);
  made.record.stages[1].cost = work(0, 1'000'000'000);
  made.record.stages[2].cost = {};
  const auto summary = evaluate_roofline(made.record);
  EXPECT_THAT(summary->by_gain, ElementsAre(1, 0));
  EXPECT_THAT(summary->stages[1].share_of_path, Optional(DoubleEq(3.0 / 9)));
  EXPECT_FALSE(summary->roofline_time);
  made.record.stages[2].cost = work(0, 100'000'000);
  EXPECT_THAT(evaluate_roofline(made.record)->roofline_time, Optional(DoubleEq(6 * ms)));
}

TEST(roofline, is_violated_only_below_the_best_ceilings) {
  // 1 ms at the median bandwidth, 0.952 ms at the best.
  EXPECT_FALSE(figures_of(work(0, 1'000'000'000), 960 * us).below_roofline);
  EXPECT_TRUE(figures_of(work(0, 1'000'000'000), 940 * us).below_roofline);
}

}  // namespace
}  // namespace graphline
