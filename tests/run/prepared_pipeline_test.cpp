#include "framework/run/execute/prepared_pipeline.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

TEST(make_measured_graph, measures_the_first_executable_in_full_and_adds_the_others) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const memory block = dev->allocate(256);
  int enqueued = 0;
  const auto enqueue = [&] {
    ++enqueued;
    s->fill(block.data(), std::byte{1}, 256);
    s->fill(block.data(), std::byte{2}, 256);
  };
  graph_record record;
  const auto first = make_measured_graph(*dev, *s, enqueue, wait_mode::block, record);
  EXPECT_EQ(record.nodes.size(), 2U);
  EXPECT_EQ(record.operations, 0U);  // fills compute nothing
  EXPECT_EQ(record.executables, 1U);
  EXPECT_EQ(record.eager.size() + 1, static_cast<std::size_t>(enqueued));
  EXPECT_GE(record.eager.size(), 3U);
  EXPECT_GE(record.launch.size(), 3U);
  EXPECT_EQ(record.launch.size(), record.later_launch.size());
  for (std::size_t i = 0; i < record.launch.size(); ++i) {
    EXPECT_LE(record.launch[i], record.later_launch[i]);
  }

  const graph_record before = record;
  const auto second = make_measured_graph(*dev, *s, enqueue, wait_mode::block, record);
  EXPECT_EQ(record.executables, 2U);
  EXPECT_GT(record.capture, before.capture);
  EXPECT_GE(record.first_launch, before.first_launch);
  EXPECT_EQ(record.eager, before.eager);
  EXPECT_EQ(record.launch, before.launch);
  EXPECT_EQ(std::to_integer<int>(*block.at(255)), 2);
}

TEST(make_measured_graph, repeats_what_takes_long_only_once) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const auto enqueue = [] { std::this_thread::sleep_for(std::chrono::milliseconds(260)); };
  graph_record record;
  make_measured_graph(*dev, *s, enqueue, wait_mode::block, record);
  EXPECT_EQ(record.eager.size(), 1U);
}

TEST(graph_costs, are_told_per_device_stage_and_not_at_all_without_graphs) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  auto spec =
      pipeline_of({make_stage("a", "device_parts", {}), make_stage("b", "device_mix", {"a"})}, 2);
  spec.run.in_flight = 2;
  const run_record record = session(plan_for_host(spec, registry), *dev).run();
  ASSERT_EQ(record.graphs.size(), 2U);
  EXPECT_EQ(record.graphs[0].name, "a");
  EXPECT_EQ(record.graphs[0].operations, 2U);
  EXPECT_EQ(record.graphs[1].name, "b");
  EXPECT_EQ(record.graphs[1].executables, 2U);
  spec.run.graphs = graph_mode::off;
  EXPECT_TRUE(session(plan_for_host(spec, registry), *dev).run().graphs.empty());
}

memory_usage on_device(std::size_t bytes, std::size_t peak) {
  memory_usage usage;
  usage.device_bytes = bytes;
  usage.device_peak_bytes = peak;
  return usage;
}

TEST(memory_taken, leaves_out_what_other_pipelines_hold) {
  const auto taken = taken_since(on_device(100, 100), on_device(150, 170));
  EXPECT_EQ(taken.device_bytes, 50U);
  EXPECT_EQ(taken.device_peak_bytes, 70U);
}

TEST(memory_taken, has_no_peak_of_its_own_below_one_that_was_reached_before) {
  const auto taken = taken_since(on_device(100, 400), on_device(150, 400));
  EXPECT_EQ(taken.device_bytes, 50U);
  EXPECT_EQ(taken.device_peak_bytes, 50U);
}

}  // namespace
}  // namespace graphline
