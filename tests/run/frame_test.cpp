#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using testing::ElementsAre;
using testing::HasSubstr;

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
    EXPECT_EQ(record.failure, "stage 'second', frame 7: enough");
    EXPECT_EQ(record.frames.size(), 5U);  // 7 less 2 of warm-up
    EXPECT_TRUE(after.empty()) << after.front();
  }
}

TEST(frame_graph, tells_of_an_exception_that_is_none_of_the_standards) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "third" && frame == 3) throw 42;
  };
  host_session s(three_calls(strategy::overlap, 1), at_frame);
  EXPECT_EQ(s.run().failure, "stage 'third', frame 3: an exception that is no std::exception");
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

TEST(frame_graph, refuses_a_run_timed_from_the_host) {
  host_session s(three_calls(strategy::async, 1));
  for (const auto method : {timing_method::host, timing_method::sync}) {
    try {
      s.run({.timing = method});
      ADD_FAILURE() << "not refused: " << to_word(method);
    } catch (const input_error& e) {
      EXPECT_THAT(e.what(), HasSubstr("makes no sense with graphs: frame"));
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

}  // namespace
}  // namespace graphline
