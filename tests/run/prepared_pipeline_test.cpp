#include "framework/run/execute/prepared_pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(make_measured_graph, launches_once_if_launches_are_not_timed) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const memory block = dev->allocate(1);
  int enqueued = 0;
  const auto enqueue = [&] {
    ++enqueued;
    s->fill(block.data(), std::byte{1}, 1);
  };
  graph_record record;
  const auto made = make_measured_graph(*dev, *s, enqueue, wait_mode::block, record, {}, false);
  EXPECT_EQ(enqueued, 1);
  EXPECT_EQ(record.nodes.size(), 1U);
  EXPECT_GT(record.first_launch, 0);
  EXPECT_TRUE(record.eager.empty());
  EXPECT_TRUE(record.launch.empty());
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

/// CPU stages `first`, `second` and `third`, the last of which reads a device stage.
pipeline_spec three_calls(strategy how, std::int64_t in_flight) {
  auto spec = pipeline_of(
      {make_stage("first", "cpu_mix", {}), make_stage("second", "cpu_mix", {}),
       make_stage("d", "device_parts", {"first"}), make_stage("third", "cpu_mix", {"d"})},
      12, 2);
  spec.run.graphs = graph_mode::frame;
  spec.run.strategy = how;
  spec.run.in_flight = in_flight;
  return spec;
}

/// What CPU stages were called, "stage frame", in order.
class call_log {
 public:
  hook into() {
    return [this](const std::string& stage, std::int64_t frame) {
      const std::lock_guard lock(mutex_);
      calls_.push_back(stage + " " + std::to_string(frame));
    };
  }
  const std::vector<std::string>& calls() const { return calls_; }

 private:
  std::mutex mutex_;
  std::vector<std::string> calls_;
};

TEST(frame_graph, runs_cpu_stages_in_declared_order_and_frame_by_frame_under_async) {
  for (const std::int64_t in_flight : {1, 2, 3}) {
    call_log log;
    const hook at_frame = log.into();
    host_session s(three_calls(strategy::async, in_flight), at_frame);
    // What prepares a session runs no CPU stage: a stage is only told of real frames.
    EXPECT_TRUE(log.calls().empty());
    ASSERT_FALSE(s.run().failure);
    std::vector<std::string> expected;
    for (int frame = 0; frame < 14; ++frame) {
      for (const char* stage : {"first ", "second ", "third "}) {
        expected.push_back(stage + std::to_string(frame));
      }
    }
    EXPECT_EQ(log.calls(), expected) << in_flight << " in flight";
  }
}

TEST(frame_graph, runs_no_cpu_stage_after_one_that_failed) {
  for (const std::int64_t in_flight : {1, 3}) {
    std::vector<std::string> after;
    bool failed = false;
    const hook at_frame = [&](const std::string& stage, std::int64_t frame) {
      if (failed) after.push_back(stage + " " + std::to_string(frame));
      if (stage == "second" && frame == 7) {
        failed = true;
        throw std::runtime_error("enough");
      }
    };
    host_session s(three_calls(strategy::async, in_flight), at_frame);
    const run_record record = s.run();
    EXPECT_EQ(record.failure, "stage 'second' (cpu_mix), frame 7: enough");
    EXPECT_EQ(record.frames.size(), 5U);  // 7 less 2 of warm-up
    EXPECT_TRUE(after.empty()) << after.front();
  }
}

TEST(frame_graph, tells_of_an_exception_that_is_none_of_the_standards) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "third" && frame == 3) throw 42;
  };
  host_session s(three_calls(strategy::overlap, 1), at_frame);
  EXPECT_EQ(s.run().failure,
            "stage 'third' (cpu_mix), frame 3: an exception not derived from std::exception");
}

TEST(frame_graph, keeps_nothing_of_its_stages_under_none_and_no_launch_under_event) {
  host_session s(three_calls(strategy::async, 2));
  EXPECT_THAT(s.timing_methods(),
              ElementsAre(timing_method::none, timing_method::event, timing_method::layers));
  for (const auto method : s.timing_methods()) {
    const run_record record = whole_run(s, {.timing = method});
    const std::size_t samples = method == timing_method::none ? 0 : 12;
    for (const auto& stage : record.stages) {
      EXPECT_TRUE(stage.enqueued.empty());
      EXPECT_EQ((stage.on == side::cpu ? stage.cpu : stage.device).size(), samples) << stage.name;
      for (const auto& part : stage.parts) {
        EXPECT_EQ(part.device.size(), method == timing_method::layers ? 12U : 0U) << part.name;
      }
    }
  }
}

TEST(frame_graph, is_one_graph_with_its_calls_among_its_nodes) {
  host_session s(three_calls(strategy::async, 3));
  const run_record record = s.run();
  ASSERT_EQ(record.graphs.size(), 1U);
  const graph_record& graph = record.graphs.front();
  EXPECT_EQ(graph.name, "frame");
  EXPECT_EQ(graph.operations, 2U);  // of the one device stage
  EXPECT_EQ(graph.nodes.size(),
            2U + 3U + 2U);  // operations, calls, a copy to the device and one back
  EXPECT_EQ(graph.executables, 3U);
}

pipeline_spec parted(graph_mode graphs) {
  auto spec =
      pipeline_of({make_stage("net", "device_parts", {}), make_stage("after", "cpu_mix", {"net"}),
                   make_stage("whole", "device_mix", {"after"})},
                  8, 1);
  spec.run.graphs = graphs;
  return spec;
}

class layers : public testing::TestWithParam<graph_mode> {};

TEST_P(layers, times_parts_one_after_another_within_their_stage) {
  host_session s(parted(GetParam()));
  const run_record record = whole_run(s, {.timing = timing_method::layers});
  EXPECT_TRUE(record.warnings.empty());
  const auto& net = stage_named(record, "net");
  ASSERT_EQ(net.parts.size(), 2U);
  EXPECT_EQ(net.parts[0].name, "0.mix");
  EXPECT_EQ(net.parts[0].choice, "an addition and a product");
  for (std::size_t f = 0; f < 8; ++f) {
    const auto& first = net.parts[0].device.at(f);
    const auto& second = net.parts[1].device.at(f);
    EXPECT_LE(net.device.at(f).begin, first.begin);
    EXPECT_LE(first.begin, first.end);
    EXPECT_EQ(first.end, second.begin);
    EXPECT_LE(second.begin, second.end);
    EXPECT_LE(second.end, net.device[f].end);
  }
  EXPECT_TRUE(stage_named(record, "whole").parts.empty());
}

TEST_P(layers, leave_names_and_choices_to_other_methods_but_no_times) {
  host_session s(parted(GetParam()));
  const run_record record = s.run();
  const auto& net = stage_named(record, "net");
  ASSERT_EQ(net.parts.size(), 2U);
  EXPECT_EQ(net.parts[1].name, "1.settle");
  EXPECT_TRUE(net.parts[1].device.empty());
}

INSTANTIATE_TEST_SUITE_P(graphs, layers,
                         testing::Values(graph_mode::off, graph_mode::stage, graph_mode::frame),
                         [](const auto& tested) { return std::string(to_word(tested.param)); });

TEST(session, warns_of_layers_where_no_stage_has_parts) {
  auto spec = parted(graph_mode::stage);
  spec.stages[0] = make_stage("net", "device_mix", {});
  host_session s(spec);
  EXPECT_THAT(s.run({.timing = timing_method::layers}).warnings,
              ElementsAre(HasSubstr("no stage exposes parts")));
  EXPECT_THAT(s.timing_methods(), testing::Not(testing::Contains(timing_method::layers)));
}

/// Has three parts and tells of as many as it is told to.
class miscounting : public device_stage, public device_work {
 public:
  explicit miscounting(int told) : told_(told) {}
  std::vector<stage_part> parts() const override { return {{"a", ""}, {"b", ""}, {"c", ""}}; }
  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    return std::make_unique<miscounting>(told_);
  }
  void enqueue(stream&) override {}
  void enqueue_in_parts(stream& s, part_marker& marker) override {
    for (int i = 0; i < told_; ++i) marker.part_enqueued(s);
  }

 private:
  int told_;
};

TEST(session, refuses_a_stage_that_miscounts_its_parts) {
  const auto dev = open_host_device(1);
  for (const int told : {2, 4}) {
    auto registry = make_registry();
    stage_kind kind = *registry.find("device_mix");
    kind.name = "miscounting";
    make_on(kind, "host",
            [told](device&, const stage_config&) { return std::make_unique<miscounting>(told); });
    registry.add(std::move(kind));
    auto spec = parted(graph_mode::stage);
    spec.stages[0] = make_stage("net", "miscounting", {});
    spec.run.timing = timing_method::layers;
    try {
      session(plan_for_host(spec, registry), *dev);
      ADD_FAILURE() << "not refused: " << told;
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("stage 'net' (miscounting): capturing its parts: "
                                      "enqueue_in_parts() reported "));
      EXPECT_THAT(e.what(), HasSubstr("parts() lists"));
    }
    spec.run.timing = timing_method::event;
    session whole(plan_for_host(spec, registry), *dev);
    run_record record = whole.run();
    whole.trace_operations(record);
    EXPECT_THAT(
        record.warnings,
        ElementsAre(AllOf(HasSubstr("operations were not traced: stage 'net' "),
                          HasSubstr("tracing its operations: enqueue_in_parts() reported "))));
  }
}

}  // namespace
}  // namespace graphline
