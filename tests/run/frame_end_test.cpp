#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// Up to eight stages on both sides, each with up to two inputs, and a CPU stage after all of them.
pipeline_spec random_with_a_cpu_stage_at_the_end(const way& w, std::mt19937& generator) {
  std::vector<stage_spec> stages;
  std::vector<std::string> unread;
  const std::size_t count = 1 + generator() % 8;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> reads;
    for (std::size_t k = generator() % 3; k > 0 && i > 0; --k) {
      const std::string name = "s" + std::to_string(generator() % i);
      if (std::ranges::find(reads, name) == reads.end()) reads.push_back(name);
      std::erase(unread, name);
    }
    const char* const kind = generator() % 2 == 0 ? "cpu_mix" : "device_mix";
    stages.push_back(make_stage("s" + std::to_string(i), kind, reads));
    unread.push_back(stages.back().name.text);
  }
  stages.push_back(make_stage("last", "cpu_mix", unread));
  auto spec = pipeline_of(stages, 20, 1);
  w.set(spec.run);
  return spec;
}

/// Begins of all that a thread did.
std::vector<nanoseconds> begins_of_thread(const run_record& record, std::uint32_t thread) {
  std::vector<nanoseconds> begins;
  for (const auto& stage : record.stages) {
    for (const auto* column : {&stage.enqueued, &stage.synced, &stage.cpu}) {
      for (std::size_t f = 0; f < column->size(); ++f) {
        if (stage.threads[f] == thread) begins.push_back((*column)[f].begin);
      }
    }
  }
  return begins;
}

void expect_ends_with_the_last_stage(const run_record& record) {
  const auto& last = stage_named(record, "last");
  for (std::size_t f = 0; f < record.frames.size(); ++f) {
    const nanoseconds returned = last.cpu[f].end;
    const nanoseconds end = record.frames[f].end;
    EXPECT_GE(end, returned);
    for (const nanoseconds begin : begins_of_thread(record, last.threads[f])) {
      EXPECT_FALSE(begin >= returned && begin < end) << "the thread went on before frame " << f;
    }
    if (record.run.strategy != strategy::overlap && f + 1 < record.frames.size()) {
      EXPECT_LE(end, record.frames[f + 1].begin);
    }
  }
}

/// A thread does one thing at a time, and so does a stage.
void expect_no_more_throughput_than_stamps_allow(const run_record& record) {
  const double all = *frame_period(record) * static_cast<double>(record.frames.size());
  std::vector<double> threads(record.threads.size());
  for (const auto& stage : record.stages) {
    double work = 0;
    for (std::size_t f = 0; f < stage.cpu.size(); ++f) {
      work += static_cast<double>(stage.cpu[f].length());
      threads[stage.threads[f]] += static_cast<double>(stage.cpu[f].length());
    }
    EXPECT_GE(all * (1 + 1e-12), work) << stage.name;
  }
  for (const double time : threads) EXPECT_GE(all * (1 + 1e-12), time);
}

class end_of_a_frame : public testing::TestWithParam<way> {};

TEST_P(end_of_a_frame, is_taken_when_its_last_stage_returns_before_its_thread_goes_on) {
  std::mt19937 generator(5);
  for (int round = 0; round < 12; ++round) {
    auto spec = random_with_a_cpu_stage_at_the_end(GetParam(), generator);
    if (round % 2 == 1) {
      spec.run.arrival = arrival::constant;
      spec.run.rate = 20'000;
    }
    host_session s(spec);
    const auto method = round % 3 == 0 ? timing_method::host : timing_method::event;
    const run_record record = whole_run(s, {.timing = method});
    ASSERT_EQ(record.frames.size(), 20U);
    expect_ends_with_the_last_stage(record);
    expect_no_more_throughput_than_stamps_allow(record);
  }
}

INSTANTIATE_TEST_SUITE_P(
    run, end_of_a_frame,
    testing::Values(way{strategy::serial, 1}, way{strategy::async, 1}, way{strategy::async, 2},
                    way{strategy::async, 4, graph_mode::off, wait_mode::spin},
                    way{strategy::async, 3, graph_mode::stage, wait_mode::yield},
                    way{strategy::overlap, 1}, way{strategy::overlap, 2},
                    way{strategy::overlap, 4, graph_mode::off, wait_mode::spin}),
    [](const auto& tested) { return name_of(tested.param); });

/// A pipeline with a device stage at its end, `end`, and a hook that has the device.
class in_flight : public testing::TestWithParam<way> {
 protected:
  run_record run(std::vector<stage_spec> stages, const hook& h) {
    const auto registry = make_registry(h);
    auto spec = pipeline_of(std::move(stages), 8, 0);
    GetParam().set(spec.run);
    session s(plan_for_host(spec, registry), *device_);
    return whole_run(s);
  }

  std::unique_ptr<device> device_ = open_host_device(1);
};

TEST_P(in_flight, a_frame_that_the_device_ends_is_seen_to_after_the_cpu_stage_under_way) {
  const hook until_idle = [this](const std::string& stage, std::int64_t) {
    if (stage == "first") device_->synchronize(wait_mode::block);
  };
  const run_record record =
      run({make_stage("first", "cpu_mix", {}), make_stage("second", "cpu_mix", {"first"}),
           make_stage("end", "device_mix", {})},
          until_idle);
  const auto& second = stage_named(record, "second");
  for (std::size_t f = 1; f < record.frames.size(); ++f) {
    EXPECT_LE(record.frames[f - 1].end, second.cpu[f].begin) << f;
  }
}

TEST_P(in_flight, a_frame_that_the_device_ends_is_seen_to_while_the_next_waits_for_the_device) {
  auto end = make_stage("end", "device_mix", {});
  end.priority = level_of(priority::high);
  const run_record record = run(
      {end, make_stage("slow", "device_slow", {}, 2), make_stage("reader", "cpu_mix", {"slow"})},
      {});
  const auto& reader = stage_named(record, "reader");
  for (std::size_t f = 1; f < record.frames.size(); ++f) {
    EXPECT_LE(record.frames[f - 1].end, reader.cpu[f].begin) << f;
  }
}

INSTANTIATE_TEST_SUITE_P(
    run, in_flight,
    testing::Values(way{strategy::async, 2}, way{strategy::async, 3, graph_mode::off},
                    way{strategy::async, 2, graph_mode::stage, wait_mode::yield},
                    way{strategy::async, 4, graph_mode::stage, wait_mode::spin}),
    [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace graphline
