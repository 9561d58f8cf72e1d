#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "framework/plan/planner.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/run/execute/virtual_session.hpp"
#include "tests/run/random_pipeline.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// Three `host` devices, a, b and c.
struct three_devices {
  std::vector<std::unique_ptr<device>> all = [] {
    std::vector<std::unique_ptr<device>> made;
    for (int i = 0; i < 3; ++i) made.push_back(open_host_device(1));
    return made;
  }();
  stage_registry registry = make_registry();

  device_group group() const { return device_group({all[0].get(), all[1].get(), all[2].get()}); }

  static void declare(pipeline_spec& spec) {
    for (const char* name : {"a", "b", "c"}) spec.devices.push_back({{name}, {"host"}});
  }
};

bool is_on_device(const stage_spec& stage) {
  return stage.kind.text.starts_with("device");
}

class several_devices : public testing::TestWithParam<way> {};

TEST_P(several_devices, compute_what_one_device_computes_on_random_graphs) {
  const three_devices on;
  std::mt19937 generator(5);
  for (int round = 0; round < 24; ++round) {
    constexpr std::int64_t frames = 15;
    auto pipeline = make_random(generator, frames + 1 - 1);
    GetParam().set(pipeline.spec.run);
    pipeline.spec.run.frames = frames;
    pipeline.spec.run.warmup = 1;
    three_devices::declare(pipeline.spec);
    for (stage_spec& stage : pipeline.spec.stages) {
      if (is_on_device(stage)) stage.on.text = std::string(1, "abc"[generator() % 3]);
    }
    session s(plan_for_host(pipeline.spec, on.registry), on.group());
    const auto methods = s.timing_methods();
    const run_record record =
        whole_run(s, {.timing = methods[static_cast<std::size_t>(round) % methods.size()]});
    expect_outputs(record, pipeline, "round " + std::to_string(round));
    // Devices that end frames at the same moment may begin the next ones in either order.
    const bool in_order = GetParam().how != strategy::overlap || GetParam().in_flight == 1;
    if (record.run.timing == timing_method::event && in_order) {
      expect_frames_in_order_and_stages_within(record);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    run, several_devices,
    testing::Values(way{strategy::serial, 1, graph_mode::stage, wait_mode::block},
                    way{strategy::serial, 1, graph_mode::off, wait_mode::yield},
                    way{strategy::async, 1, graph_mode::stage, wait_mode::yield},
                    way{strategy::async, 3, graph_mode::off, wait_mode::block},
                    way{strategy::overlap, 1, graph_mode::stage, wait_mode::block},
                    way{strategy::overlap, 3, graph_mode::stage, wait_mode::yield}),
    [](const auto& tested) { return name_of(tested.param); });

/// "slow" on device a, which "quick" on device b reads through a copy.
plan slow_before_quick(const three_devices& on) {
  auto spec = pipeline_of(
      {make_stage("slow", "device_slow", {}, 30), make_stage("quick", "device_mix", {"slow"})}, 2,
      0);
  spec.run.graphs = graph_mode::off;
  three_devices::declare(spec);
  spec.stages[1].on.text = "b";
  return plan_for_host(spec, on.registry);
}

TEST(devices_of_a_run, wait_for_each_other_without_the_host) {
  const three_devices on;
  plan p = slow_before_quick(on);
  const std::size_t copy = 1;
  ASSERT_EQ(p.stages[copy].name, "copy:slow@b");
  EXPECT_EQ(p.stages[copy].device, 1U);
  ASSERT_EQ(p.stages[copy].waits.front().how, satisfied_by::event_wait);
  EXPECT_FALSE(p.stages[0].host_waits);
  session s(p, on.group());
  const auto expected = hex_checksum(mixed(1, {mixed(30, {}, 0)}, 0));
  EXPECT_EQ(whole_run(s).outputs.front().checksum, expected);

  // Without the wait, the copy overtakes the slow stage, whose output is not there yet.
  p.stages[copy].waits.front().how = satisfied_by::stream_order;
  session hasty(p, on.group());
  const run_record record = hasty.run();
  EXPECT_LT(record.stages[copy].device[0].begin, record.stages[0].device[0].end);
}

TEST(devices_of_a_run, have_a_window_each) {
  const three_devices on;
  std::vector<stage_spec> stages;
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    stages.push_back(make_stage(name, "device_slow", {}, 1));
    stages.back().on.text = name[0];
  }
  auto spec = pipeline_of(std::move(stages), 3, 0);
  spec.run.strategy = strategy::overlap;
  spec.run.window = 1;
  three_devices::declare(spec);
  virtual_session s(plan_for_host(spec, on.registry), {.devices = on.group().properties()});
  virtual_times times;
  times.work = [](std::size_t, const frame_position&) { return 10'000; };
  times.issue = [](std::size_t, const frame_position&) { return 0; };
  const run_record record = s.run(times);
  ASSERT_EQ(record.frames.size(), 3U);
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_EQ(record.frames[f].end - record.frames[f].begin, 20'000);
    for (const std::size_t first : {0U, 2U}) {
      const stage_record& one = record.stages[first];
      const stage_record& two = record.stages[first + 1];
      EXPECT_EQ(two.device[f].begin, one.device[f].end);
      EXPECT_GE(two.enqueued[f].begin, one.device[f].end);
    }
  }
}

TEST(devices_of_a_run, wait_by_the_host_where_they_cannot_exchange_events) {
  const three_devices on;
  auto spec = pipeline_of(
      {make_stage("slow", "device_slow", {}, 5), make_stage("quick", "device_mix", {"slow"})}, 3,
      0);
  three_devices::declare(spec);
  spec.stages[1].on.text = "b";
  plan_target target;  // "b" is of another backend for the planner
  target.with_device = [](const std::string& name) {
    return plan_target{.backend = name == "host" ? "host" : ""};
  };
  spec.devices[1].device.text = "other";
  for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
    spec.run.strategy = how;
    diagnostics out;
    plan p = make_plan(spec, on.registry, target, out);
    ASSERT_FALSE(out.has_errors()) << out.render();
    ASSERT_EQ(p.stages[2].name, "copy:slow@b");
    EXPECT_EQ(p.stages[2].waits.front().how, satisfied_by::completion);
    session s(std::move(p), on.group());
    EXPECT_EQ(whole_run(s).outputs.front().checksum, hex_checksum(mixed(1, {mixed(5, {}, 0)}, 0)));
  }
}

TEST(devices_of_a_run, pass_a_failure_on_to_those_that_wait) {
  for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
    const three_devices on;
    auto spec = pipeline_of(
        {make_stage("doomed", "device_fail", {}, 5), make_stage("next", "device_mix", {"doomed"}),
         make_stage("last", "cpu_mix", {"next"})},
        20, 0);
    spec.run.strategy = how;
    spec.run.graphs = graph_mode::off;  // preparation runs it once in each slot
    spec.run.in_flight = how == strategy::serial ? 1 : 3;
    three_devices::declare(spec);
    spec.stages[1].on.text = "b";
    session s(plan_for_host(spec, on.registry), on.group());
    const run_record record = s.run();
    ASSERT_TRUE(record.failure);
    EXPECT_NE(record.failure->find("'doomed'"), std::string::npos) << *record.failure;
    EXPECT_NE(record.failure->find("the kernel went wrong"), std::string::npos);
    EXPECT_LT(record.frames.size(), 20U);
  }
}

TEST(devices_of_a_run, have_records_and_memory_of_their_own) {
  const three_devices on;
  session s(slow_before_quick(on), on.group());
  const run_record record = whole_run(s);
  ASSERT_EQ(record.devices.size(), 3U);
  EXPECT_EQ(record.devices[1].name, "b");
  EXPECT_EQ(record.devices[0].memory.device_bytes + record.devices[1].memory.device_bytes,
            record.memory.device_bytes);
  EXPECT_GT(record.devices[0].memory.device_bytes, 0U);
  EXPECT_EQ(record.devices[2].memory.device_bytes, 0U);
  EXPECT_EQ(stage_named(record, "quick").device_index, 1U);
  EXPECT_EQ(stage_named(record, "quick").stream, "b stream 0");
}

}  // namespace
}  // namespace graphline
