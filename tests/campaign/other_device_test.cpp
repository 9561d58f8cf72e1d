#include "framework/campaign/predict/other_device.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr auto float32 = precision::float32;

ceiling_figure ceiling_of(ceiling what, double value, precision arithmetic = float32) {
  return {what, arithmetic, value, value, value};
}

/// The target has twice the bandwidth, 4 times the rate and half the bandwidth of the link.
other_device target() {
  other_device made;
  made.device.backend = "cuda";
  made.device.name = "B";
  made.device.memory_bytes = 1000;
  made.source_ceilings = {
      ceiling_of(ceiling::read, 100e9), ceiling_of(ceiling::host_to_device_pinned, 20e9),
      ceiling_of(ceiling::device_to_host_pinned, 20e9), ceiling_of(ceiling::matmul, 1e12),
      ceiling_of(ceiling::matmul, 8e12, precision::tf32)};
  made.ceilings = {
      ceiling_of(ceiling::read, 200e9), ceiling_of(ceiling::host_to_device_pinned, 10e9),
      ceiling_of(ceiling::device_to_host_pinned, 10e9), ceiling_of(ceiling::matmul, 4e12)};
  return made;
}

/// A stage that takes `time` ns in each of ten frames.
stage_record stage_of(const std::string& name, nanoseconds time, const cost_record& cost) {
  stage_record stage;
  stage.name = name;
  stage.cost = cost;
  for (nanoseconds frame = 0; frame < 10; ++frame) {
    stage.device.push_back({frame * 10'000'000, frame * 10'000'000 + time});
  }
  return stage;
}

run_record source_with(std::vector<stage_record> stages) {
  run_record run;
  run.device.backend = "cuda";
  run.device.name = "A";
  run.stages = std::move(stages);
  return run;
}

stage_factor factor(const run_record& source, const other_device& other = target()) {
  const auto all = factors_on(other, source);
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

void expect_factor(const stage_factor& of, double low, double best, double high) {
  EXPECT_NEAR(of.low, low, 1e-12) << of.stage;
  EXPECT_NEAR(of.best, best, 1e-12) << of.stage;
  EXPECT_NEAR(of.high, high, 1e-12) << of.stage;
}

TEST(other_device, scales_the_time_above_the_roofline_of_much_computing_as_its_flops) {
  // Computes for 1 ms and reads for 0.1 ms, then computes for 0.01 ms and reads for 0.5 ms; on the
  // target for 0.25, 0.05, 0.0025 and 0.25 ms. Each part is one operation, which starts for 2.5 us.
  stage_record stage = stage_of(
      "net", 3'005'000, {.flops = 1'010'000'000, .bytes_read = 60'000'000, .bytes_written = 0});
  stage.parts.push_back(
      {"0", "", {}, {.flops = 1'000'000'000, .bytes_read = 10'000'000, .bytes_written = 0}});
  stage.parts.push_back(
      {"1", "", {}, {.flops = 10'000'000, .bytes_read = 50'000'000, .bytes_written = 0}});
  run_record source = source_with({stage});
  const double apart = 500 + 1500 * 0.25;
  const double same_efficiency = 3000 * (0.5 / 1.5);
  const double together = 3000 * 0.25;
  expect_factor(factor(source), (5 + together) / 3005,
                (5 + apart + 0.25 * (together - apart)) / 3005, (5 + same_efficiency) / 3005);

  graph_record graph;
  graph.name = "net";
  graph.operations = 4;
  source.graphs = {graph};
  EXPECT_NEAR(factor(source).high, (10 + 2995 * (0.5 / 1.5)) / 3005, 1e-12);
}

TEST(other_device, scales_the_time_above_the_roofline_of_much_reading_as_the_cores) {
  // Reads for 0.5 ms of 2 ms; on the target for 0.25 ms.
  const auto one = stage_of("net", 2'002'500,
                            {.flops = 10'000'000, .bytes_read = 50'000'000, .bytes_written = 0});
  const double apart = 250 + 1500 * 0.25;
  const double together = 2000 * 0.25;
  // Three quarters of the time are above the roofline.
  expect_factor(factor(source_with({one})), (2.5 + together) / 2002.5,
                (2.5 + apart + 0.375 * (together - apart)) / 2002.5, (2.5 + 2000 * 0.5) / 2002.5);
  // Without FLOP/s in float32, the time above the roofline stays.
  other_device unknown = target();
  std::erase(unknown.ceilings, ceiling_of(ceiling::matmul, 4e12));
  const auto reads =
      stage_of("net", 2'002'500, {.flops = 0, .bytes_read = 50'000'000, .bytes_written = 0});
  unknown.ceilings.push_back(ceiling_of(ceiling::matmul, 8e12, precision::tf32));
  expect_factor(factor(source_with({reads}), unknown), (2.5 + 2000 * 0.5) / 2002.5,
                (2.5 + 1750 + 0.375 * (2000 - 1750)) / 2002.5, (2.5 + 2000) / 2002.5);
}

TEST(other_device, starts_operations_as_fast_as_the_source) {
  // 0.5 us of 3 us are at the roofline.
  expect_factor(factor(source_with({stage_of(
                    "short", 3000, {.flops = 0, .bytes_read = 50'000, .bytes_written = 0})})),
                (2.5 + 0.5 * 0.5) / 3, (2.5 + 0.5 * 0.5) / 3, (2.5 + 0.5 * 0.5) / 3);
  // Faster than the roofline, such as from a cache.
  expect_factor(factor(source_with({stage_of(
                    "cached", 400, {.flops = 0, .bytes_read = 50'000, .bytes_written = 0})})),
                0.5, 0.5, 0.5);
  // Work without a cost, such as a delay, takes as long.
  expect_factor(factor(source_with(
                    {stage_of("none", 400, {.flops = 0, .bytes_read = 0, .bytes_written = 0})})),
                1, 1, 1);
}

TEST(other_device, copies_at_the_bandwidth_of_its_link) {
  stage_record copy = stage_of("copy:x", 102'500,
                               {.flops = 0, .bytes_read = 1'000'000, .bytes_written = 1'000'000});
  copy.copy = true;
  run_record source = source_with({copy});
  source.tensors.push_back({"x", {}, side::cpu, {}, {0}});
  // 50 us of 100 us at full bandwidth, which is half on the target: 150 us apart, 100 us together.
  expect_factor(factor(source), 1, (2.5 + 150 - 0.25 * 50) / 102.5, (2.5 + 200) / 102.5);
}

TEST(other_device, weights_buckets_by_their_frames) {
  stage_record stage = stage_of("rows", 1'002'500, {});
  stage.capacity = 4;
  // 0.1 ms of reading in 8 frames, 0.4 ms of computing in 2.
  stage.buckets = {{1, {.flops = 0, .bytes_read = 10'000'000, .bytes_written = 0}},
                   {4, {.flops = 400'000'000, .bytes_read = 0, .bytes_written = 0}}};
  stage.rows = {1, 1, 1, 1, 4, 4, 1, 1, 1, 1};
  const double before = 800 * 0.1 + 200 * 0.4;
  const double after = 800 * 0.05 + 200 * 0.1;
  EXPECT_NEAR(factor(source_with({stage})).high, (2.5 + 1000 * after / before) / 1002.5, 1e-12);
}

TEST(other_device, names_what_is_unknown) {
  const auto message_of = [](const run_record& source, const other_device& other) {
    try {
      factors_on(other, source);
    } catch (const input_error& problem) {
      return std::string(problem.what());
    }
    return std::string("nothing thrown");
  };
  const cost_record in_tf32{
      .flops = 1'000'000, .bytes_read = 100, .bytes_written = 0, .arithmetic = precision::tf32};
  EXPECT_EQ(message_of(source_with({stage_of("net", 1000, in_tf32)}), target()),
            "B has no known rate in tf32, which stage 'net' needs");
  const run_record unknown = source_with({stage_of("own", 1000, {})});
  EXPECT_EQ(message_of(unknown, target()),
            "the FLOPs and bytes of stage 'own' are unknown; state the factor of its time with "
            "--scale own=FACTOR");
  EXPECT_TRUE(factors_on(target(), unknown, {{"own", 0.5}}).empty());

  stage_record copy = stage_of("copy:x", 1000, {.flops = 0, .bytes_read = 9, .bytes_written = 9});
  copy.copy = true;
  run_record copying = source_with({copy});
  copying.tensors.push_back({"x", {}, side::cpu, {}, {0}});
  other_device unlinked = target();
  std::erase(unlinked.ceilings, ceiling_of(ceiling::host_to_device_pinned, 10e9));
  EXPECT_THAT(message_of(copying, unlinked),
              HasSubstr("the bandwidth between host and B is unknown, which 'copy:x' needs"));
  other_device unmeasured = target();
  unmeasured.source_ceilings.clear();
  EXPECT_EQ(message_of(copying, unmeasured),
            "the ceilings of A have no bandwidth of memory or no rate");
}

/// A prediction that takes as long as the scale of stage "net", in seconds.
run_record predicted(const prediction_options& options) {
  run_record record;
  record.prediction.emplace();
  const double scale = options.scale.at("net");
  record.prediction->figures = {{"mean", 0.9 * scale, 1.1 * scale},
                                {"throughput", 0.9 / scale, 1.1 / scale}};
  for (const auto& [stage, factor] : options.scale)
    record.prediction->scaled.emplace_back(stage, "");
  return record;
}

TEST(other_device, widens_intervals_to_the_range_of_factors) {
  plan p;
  p.stages.resize(1);
  p.stages[0].name = "net";
  // Reads for 1 ms of 2 ms; on the target for 0.5 ms.
  const cost_record cost{.flops = 0, .bytes_read = 100'000'000, .bytes_written = 0};
  const run_record source =
      source_with({stage_of("net", 2'002'500, cost), stage_of("not planned", 1'000'000, cost)});
  const double apart = 500 + 1000 * 0.25;
  const double together = 500;
  const double low = (2.5 + together) / 2002.5;
  const double high = (2.5 + 1000) / 2002.5;
  prediction_options options;
  options.scale = {{"net", 2}};
  const run_record made = predict_on(target(), p, source, options, predicted);
  EXPECT_EQ(made.device.name, "B");
  EXPECT_EQ(made.prediction->scaled, (decltype(made.prediction->scaled){{"net", "2"}}));
  ASSERT_EQ(made.prediction->device_change->factors.size(), 1U);
  expect_factor(made.prediction->device_change->factors[0], low,
                (2.5 + apart + 0.25 * (together - apart)) / 2002.5, high);
  EXPECT_EQ(made.prediction->device_change->source_device, "A");
  const auto& figures = made.prediction->figures;
  EXPECT_NEAR(figures[0].low, 0.9 * 2 * low, 1e-12);
  EXPECT_NEAR(figures[0].high, 1.1 * 2 * high, 1e-12);
  EXPECT_NEAR(figures[1].low, 0.9 / (2 * high), 1e-12);
  EXPECT_NEAR(figures[1].high, 1.1 / (2 * low), 1e-12);
}

TEST(other_device, is_refused_if_it_has_too_little_memory) {
  run_record source = source_with({});
  source.memory.device_peak_bytes = 1001;
  EXPECT_THAT([&] { predict_on(target(), plan(), source, {}, predicted); },
              ThrowsMessage<input_error>(
                  HasSubstr("the source used 1001 B of device memory, and B has 1000 B")));
}

}  // namespace
}  // namespace graphline
