#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using testing::HasSubstr;

/// device `d` -> CPU `c` -> device `e`, and CPU `aside` beside them.
pipeline_spec diamond(const way& w) {
  auto spec = pipeline_of(
      {make_stage("d", "device_mix", {}), make_stage("c", "cpu_mix", {"d"}),
       make_stage("aside", "cpu_mix", {}), make_stage("e", "device_mix", {"c", "aside"})},
      40, 3);
  w.set(spec.run);
  return spec;
}

class failing_run : public testing::TestWithParam<way> {};

TEST_P(failing_run, names_the_cpu_stage_and_frame_and_keeps_the_frames_before) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "c" && frame == 20) throw std::runtime_error("no more film");
  };
  host_session s(diamond(GetParam()), at_frame);
  const run_record record = s.run();
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(*record.failure, "stage 'c' (cpu_mix), frame 20: no more film");
  EXPECT_EQ(record.frames.size(), 17U);  // 20 less 3 of warm-up
  for (const auto& stage : record.stages) {
    const auto& column = stage.on == side::cpu ? stage.cpu : stage.device;
    EXPECT_EQ(column.size(), record.frames.size()) << stage.name;
  }
  EXPECT_FALSE(record.interrupted);
}

TEST_P(failing_run, tells_of_a_failure_during_warmup) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "aside" && frame == 1) throw std::runtime_error("too early");
  };
  host_session s(diamond(GetParam()), at_frame);
  const run_record record = s.run();
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(*record.failure, "stage 'aside' (cpu_mix), frame 1: too early");
  EXPECT_TRUE(record.frames.empty());
}

TEST_P(failing_run, can_run_again_after_a_cpu_stage_failed) {
  bool fail = true;
  std::atomic<std::size_t> calls = 0;
  const hook at_frame = [&](const std::string& stage, std::int64_t frame) {
    if (fail && stage == "c" && frame == 10) throw std::runtime_error("once");
    calls += stage == "c" ? 1 : 0;
  };
  host_session s(diamond(GetParam()), at_frame);
  EXPECT_TRUE(s.run().failure);
  fail = false;
  calls = 0;
  const run_record record = s.run();
  EXPECT_FALSE(record.failure);
  EXPECT_EQ(record.frames.size(), 40U);
  EXPECT_GE(calls, 40U);  // of a frame's graph too, which skips them after a failure
}

TEST_P(failing_run, says_which_device_operation_failed) {
  auto spec = diamond(GetParam());
  // After the runs that prepare a slot (at most 20), before the frames that each is sure to get.
  spec.run.frames = 200;
  spec.stages.push_back(make_stage("doomed", "device_fail", {}, 40));
  host_session s(spec);
  const run_record record = s.run();
  ASSERT_TRUE(record.failure);
  EXPECT_THAT(*record.failure, HasSubstr("doomed kernel"));
  EXPECT_THAT(*record.failure, HasSubstr("the kernel went wrong"));
  EXPECT_LT(record.frames.size(), 200U);
}

TEST_P(failing_run, stops_when_asked_and_keeps_what_was_measured) {
  stop_request stop;
  const hook at_frame = [&](const std::string& stage, std::int64_t frame) {
    if (stage == "c" && frame == 15) stop.raise();
  };
  host_session s(diamond(GetParam()), at_frame);
  const run_record record = s.run({.stop = &stop});
  EXPECT_TRUE(record.interrupted);
  EXPECT_FALSE(record.failure);
  // Frame 15 is the 13th measured one; those in flight beside it are completed too.
  EXPECT_GE(record.frames.size(), 13U);
  EXPECT_LE(record.frames.size(), 13U + 4U);
}

TEST_P(failing_run, stops_before_the_first_frame_when_already_asked) {
  stop_request stop;
  host_session s(diamond(GetParam()));
  stop.raise();
  const run_record record = s.run({.stop = &stop});
  EXPECT_TRUE(record.interrupted);
  EXPECT_TRUE(record.frames.empty());
}

TEST_P(failing_run, has_the_frames_that_there_was_time_for) {
  const hook at_frame = [](const std::string& stage, std::int64_t) {
    if (stage == "c") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  auto spec = diamond(GetParam());
  spec.run.frames = 100'000;
  spec.run.max_time = 300'000'000;
  host_session s(spec, at_frame);
  const run_record record = s.run();
  EXPECT_FALSE(record.interrupted);
  EXPECT_FALSE(record.failure);
  EXPECT_FALSE(record.frames.empty());
  EXPECT_LT(record.frames.size(), 100'000U);
  EXPECT_EQ(record.run.frames, static_cast<std::int64_t>(record.frames.size()));
}

TEST_P(failing_run, says_that_there_was_no_time_for_a_frame) {
  auto spec = diamond(GetParam());
  spec.run.max_time = 1'000'000;
  spec.run.arrival = arrival::poisson;
  spec.run.rate = lowest_rate;
  host_session s(spec);
  const run_record record = s.run();
  EXPECT_FALSE(record.interrupted);
  EXPECT_EQ(record.failure, "max_time passed before a frame completed");
}

TEST(failing_device_stage, is_blamed_and_not_the_cpu_stage_that_waits_for_it) {
  for (const way& w :
       {way{strategy::serial}, way{strategy::async}, way{strategy::overlap},
        way{strategy::async, 1, graph_mode::frame}, way{strategy::overlap, 3, graph_mode::frame}}) {
    auto spec = pipeline_of(
        {make_stage("doomed", "device_fail", {}, 40), make_stage("waits", "cpu_mix", {"doomed"})},
        200, 3);
    w.set(spec.run);
    host_session s(spec);
    const run_record record = s.run();
    ASSERT_TRUE(record.failure) << name_of(w);
    EXPECT_THAT(*record.failure,
                testing::ContainsRegex("^stage 'doomed' \\(device_fail\\), frame [0-9]+: "
                                       "operation 'doomed kernel' failed on the host device: the "
                                       "kernel went wrong$"))
        << name_of(w);
  }
}

INSTANTIATE_TEST_SUITE_P(run, failing_run,
                         testing::Values(way{strategy::serial, 1}, way{strategy::async, 1},
                                         way{strategy::async, 2}, way{strategy::overlap, 1},
                                         way{strategy::overlap, 3},
                                         way{strategy::async, 1, graph_mode::frame},
                                         way{strategy::async, 3, graph_mode::frame},
                                         way{strategy::overlap, 2, graph_mode::frame}),
                         [](const auto& tested) { return name_of(tested.param); });

TEST(stop_request, is_raised_from_a_moment_on_for_a_part_of_the_work) {
  stop_request whole;
  stop_request part(&whole);
  part.raise_at(now() + 3'600'000'000'000);
  EXPECT_FALSE(part.raised());
  part.raise_at(now());
  EXPECT_TRUE(part.raised());
  EXPECT_FALSE(whole.raised());
}

TEST(session, stops_while_preparing_when_asked) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  stop_request stop;
  stop.raise();
  EXPECT_THROW(session(plan_for_host(diamond({strategy::async, 1}), registry), *dev, &stop),
               interrupted_error);
}

}  // namespace
}  // namespace graphline
