#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/plan/placement.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/counted_new.hpp"
#include "tests/run/decided_pipelines.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// Allocations of a run of that many frames, all threads counted.
long allocations_of(session& s, timing_method method, std::int64_t frames) {
  const long before = counted_new::allocations;
  EXPECT_FALSE(s.run({.timing = method, .frames = frames}).failure);
  return counted_new::allocations - before;
}

void expect_none_per_frame(const pipeline_spec& spec, const stage_registry& registry, device& dev) {
  session s(plan_for_host(spec, registry), dev);
  const settings& run = spec.run;
  for (const auto method : s.timing_methods()) {
    allocations_of(s, method, 10);
    const long few = allocations_of(s, method, 10);
    const long many = allocations_of(s, method, 200);
    // What is read of the machine around the frames differs by a text or two from run to run.
    EXPECT_NEAR(static_cast<double>(many), static_cast<double>(few), 190 / 10.)
        << to_word(run.strategy) << ", graphs " << to_word(run.graphs) << ", timing "
        << to_word(method) << ", arrival " << to_word(run.arrival) << ", when full "
        << to_word(run.when_full);
  }
}

TEST(frame_loop, allocates_nothing_per_frame) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  auto spec =
      pipeline_of({make_stage("a", "device_parts", {}), make_stage("b", "cpu_mix", {"a"}),
                   make_stage("c", "cpu_mix", {}), make_stage("d", "device_mix", {"b", "c"})});
  for (const way& each : every_way({1})) {
    if (each.how == strategy::overlap) continue;
    each.set(spec.run);
    expect_none_per_frame(spec, registry, *dev);
    spec.run.arrival = arrival::poisson;
    spec.run.rate = 50'000;
    for (const auto& entry : queue_policy_words) {
      spec.run.when_full = entry.second;
      expect_none_per_frame(spec, registry, *dev);
    }
    spec.run.arrival = arrival::closed;
    spec.run.rate.reset();
  }
}

TEST(frame_loop, allocates_nothing_for_decisions) {
  const auto dev = open_host_device(1);
  const auto registry = testing_decisions::make_host_registry();
  pipeline_spec spec;
  spec.name = {"decided"};
  spec.inputs.push_back(
      {.name = {"x"},
       .type = {{testing_decisions::most_rows, testing_decisions::columns}, dtype::int64}});
  const auto add = [&](const char* name, const char* kind,
                       const std::vector<std::string>& reads) -> stage_spec& {
    return testing_decisions::add_stage(spec, name, kind, reads, 1);
  };
  add("count", "cpu_number", {});
  add("flag", "number", {"count"});
  add("first", "table", {"x"}).rows = {"count"};
  stage_spec& second = add("second", "table", {"first"});
  second.rows = {"count"};
  second.when = {"flag"};
  stage_spec& end = add("end", "cpu_table", {"second"});
  end.rows = {"count"};
  end.otherwise = {{"first"}};
  for (const way& each : every_way({1})) {
    if (each.how == strategy::overlap) continue;
    each.set(spec.run);
    expect_none_per_frame(spec, registry, *dev);
  }
}

/// Pages of this process that are in memory, in bytes.
long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(run_record, takes_memory_for_the_frames_that_ran_and_not_for_all_that_were_asked_for) {
  for (const auto& [strategy_word, how] : strategy_words) {
    for (const auto& [arrival_word, arriving] : arrival_words) {
      auto spec = pipeline_of({make_stage("a", "cpu_mix", {}), make_stage("b", "device_mix", {})});
      spec.run.strategy = how;
      spec.run.arrival = arriving;
      if (arriving == arrival::trace) continue;  // has as many frames as its file
      if (arriving != arrival::closed) spec.run.rate = 50'000;
      spec.run.frames = 100'000'000;
      spec.run.max_time = 20'000'000;
      host_session s(spec);
      const long before = resident_bytes();
      const run_record record = s.run();
      EXPECT_FALSE(record.failure);
      EXPECT_GT(record.frames.size(), 0U);
      EXPECT_LT(resident_bytes() - before, 400L << 20) << strategy_word << ", " << arrival_word;
    }
  }
}

TEST(frame_schedule, holds_no_frame_that_is_yet_to_come) {
  for (const auto how : {arrival::constant, arrival::poisson}) {
    const long before = counted_new::bytes;
    settings run;
    run.arrival = how;
    run.rate = 1e6;
    run.frames = 100'000'000;
    frame_schedule schedule(arrival_times(run, 1), 8, queue_policy::block);
    for (std::int64_t i = 0; i < 1000; ++i) {
      const auto due = schedule.next(0);
      ASSERT_TRUE(due);
      schedule.begin_frames(i, *due);
    }
    EXPECT_LT(counted_new::bytes - before, 32 << 10) << to_word(how);
  }
}

TEST(run_record, ends_the_run_where_memory_runs_out_and_keeps_what_was_measured) {
  for (const auto& entry : strategy_words) {
    auto spec = pipeline_of({make_stage("a", "cpu_mix", {})});
    spec.run.strategy = entry.second;
    spec.run.in_flight = entry.second == strategy::serial ? 1 : 2;
    spec.run.frames = 100'000'000;
    host_session s(spec);
    counted_new::largest = 100L << 20;
    const run_record record = s.run();
    counted_new::largest = std::numeric_limits<long>::max();
    ASSERT_TRUE(record.failure);
    EXPECT_NE(record.failure->find("measure fewer frames"), std::string::npos) << *record.failure;
    EXPECT_GT(record.frames.size(), 1'000'000U) << entry.first;
    EXPECT_EQ(record.stages[0].cpu.size(), record.frames.size());
    EXPECT_GT(record.frames.back().end, record.frames.back().begin);
  }
}

/// Bytes that `more` frames beyond 20,000 take, on all threads. A record of fewer frames is small
/// enough not to look at how much memory is left.
long bytes_of_more_frames(const std::vector<stage_spec>& stages, std::int64_t more) {
  host_session s(pipeline_of(stages));
  const auto bytes_of = [&s](std::int64_t frames) {
    const long before = counted_new::bytes;
    const run_record record = s.run({.timing = timing_method::event, .frames = frames});
    EXPECT_EQ(record.frames.size(), static_cast<std::size_t>(frames));
    return counted_new::bytes - before;
  };
  constexpr std::int64_t few = 20'000;
  bytes_of(few);
  const long without = bytes_of(few);
  return bytes_of(few + more) - without;
}

// What a run allocates besides, such as texts of its environment, does not grow with the frames.
constexpr long besides = 1024;

// Sixteen bytes hold a begin and an end.
constexpr long of_thread = static_cast<long>(sizeof(std::uint32_t));
constexpr long of_cause = static_cast<long>(sizeof(std::int32_t));
constexpr long of_frame = static_cast<long>(sizeof(frame_record) + sizeof(std::uint32_t));

TEST(run_record, grows_by_two_pairs_of_stamps_and_two_times_for_a_device_stage) {
  const long bytes = bytes_of_more_frames({make_stage("a", "device_mix", {})}, 2000);
  EXPECT_NEAR(static_cast<double>(bytes), 2000 * (of_frame + 2 * 16 + 2 * 8 + of_thread + of_cause),
              besides);
}

TEST(run_record, grows_by_its_samples_and_nothing_else_over_100000_frames) {
  const long bytes = bytes_of_more_frames(
      {make_stage("c", "cpu_mix", {}), make_stage("d", "cpu_mix", {"c"})}, 100'000);
  EXPECT_NEAR(static_cast<double>(bytes), 100'000 * (of_frame + 2 * (16 + of_thread + of_cause)),
              besides);
}

/// What `check` says of it.
TEST(run_record, grows_by_the_bytes_that_are_planned_for_it) {
  auto spec =
      pipeline_of({make_stage("a", "device_mix", {}), make_stage("b", "cpu_mix", {"a"}),
                   make_stage("c", "cpu_mix", {}), make_stage("d", "device_mix", {"b", "c"})});
  constexpr std::int64_t more = 2000;
  for (const auto how : {strategy::async, strategy::overlap}) {
    for (const auto& graphs : graph_mode_words) {
      spec.run.strategy = how;
      spec.run.graphs = graphs.second;
      host_session s(spec);
      for (const auto method : s.timing_methods()) {
        if (method == timing_method::layers) continue;
        const auto bytes_of = [&](std::int64_t frames) {
          const long before = counted_new::bytes;
          EXPECT_FALSE(s.run({.timing = method, .frames = frames}).failure);
          return counted_new::bytes - before;
        };
        bytes_of(1000);
        const long few = bytes_of(1000);
        plan p = s.planned();
        p.run.timing = method;
        p.run.frames = more;
        EXPECT_NEAR(static_cast<double>(bytes_of(1000 + more) - few),
                    static_cast<double>(record_bytes(p, {})), 2 * besides)
            << to_word(how) << ", graphs " << graphs.first << ", timing " << to_word(method);
      }
    }
  }
}

}  // namespace
}  // namespace graphline
