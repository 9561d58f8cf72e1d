#include "framework/run/execute/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

TEST(session, fills_only_the_columns_that_the_timing_method_has) {
  host_session s(chain());
  for (const auto& [word, method] : timing_method_words) {
    const run_record record = whole_run(s, {.timing = method});
    EXPECT_EQ(record.run.timing, method);
    ASSERT_EQ(record.frames.size(), 6U);
    const auto& device_stage = stage_named(record, "a");
    const auto& cpu_stage = stage_named(record, "b");
    const bool event = method == timing_method::event || method == timing_method::layers;
    const bool spans = event || method == timing_method::callback;
    const bool host = method == timing_method::host;
    EXPECT_EQ(device_stage.device.size(), spans ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.busy.size(), event ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.enqueued.size(), spans || host ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.synced.size(), method == timing_method::sync ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.cpu.size(), 0U) << word;
    EXPECT_EQ(cpu_stage.cpu.size(), method == timing_method::none ? 0U : 6U) << word;
    EXPECT_EQ(cpu_stage.device.size(), 0U) << word;
  }
}

TEST(session, reports_peak_memory_and_asks_for_none_while_running) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(chain(), registry), *dev);
  const auto before = dev->usage();
  const run_record record = s.run();
  EXPECT_EQ(dev->usage().allocations, before.allocations);
  EXPECT_EQ(record.memory.allocations, before.allocations);
  EXPECT_EQ(record.memory.device_bytes, before.device_bytes);
  EXPECT_EQ(record.memory.pinned_peak_bytes, before.pinned_peak_bytes);
  EXPECT_GE(record.memory.device_peak_bytes, 2U * 64U * 8U);
}

TEST(session, counts_what_its_frames_allocate) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry(
      [&](const std::string&, std::int64_t) { static_cast<void>(dev->allocate_pinned(1)); });
  session s(plan_for_host(chain(), registry), *dev);
  const auto before = dev->usage();
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(s.run().memory.allocations, before.allocations + 7);  // one for each frame
  }
}

TEST(session, reports_its_own_memory_whatever_else_the_device_holds) {
  const auto registry = make_registry();
  const auto alone = open_host_device(1);
  const auto of = [&](device& d) {
    session s(plan_for_host(chain(), registry), d);
    return s.run().memory;
  };
  const memory_usage expected = of(*alone);
  const auto shared = open_host_device(1);
  const memory other = shared->allocate(1 << 20);
  const memory pinned = shared->allocate_pinned(1 << 20);
  auto neighbor = chain();
  neighbor.run.in_flight = 3;
  session first(plan_for_host(neighbor, registry), *shared);
  for (int time = 0; time < 2; ++time) {
    const memory_usage found = of(*shared);
    EXPECT_EQ(found.device_bytes, expected.device_bytes);
    EXPECT_EQ(found.pinned_bytes, expected.pinned_bytes);
    EXPECT_EQ(found.allocations, expected.allocations);
    // Once the device has held more, only that much is known of the peak.
    EXPECT_EQ(found.device_peak_bytes, time == 0 ? expected.device_peak_bytes : found.device_bytes);
    EXPECT_GE(found.pinned_peak_bytes, found.pinned_bytes);
  }
}

TEST(session, tells_the_moment_between_the_warmup_and_the_first_measured_frame) {
  std::vector<std::string> log;
  const hook at_frame = [&](const std::string&, std::int64_t frame) {
    log.push_back(std::to_string(frame));
  };
  auto spec = chain();
  spec.run.frames = 2;
  host_session s(spec, at_frame);
  run_options options;
  options.before_frames = [&] { log.emplace_back("now"); };
  ASSERT_FALSE(s.run(options).failure);
  EXPECT_EQ(log, (std::vector<std::string>{"0", "now", "1", "2"}));
}

TEST(session, records_when_its_stamps_count_from_on_the_monotonic_clock) {
  host_session s(chain());
  const nanoseconds before = now();
  const run_record record = s.run();
  ASSERT_TRUE(record.epoch);
  EXPECT_GE(*record.epoch, before);
  EXPECT_LE(*record.epoch + record.frames.back().end, now());
  run_options options;
  options.common_epoch = before - 7;
  EXPECT_EQ(s.run(options).epoch, before - 7);
}

TEST(session, takes_expected_times_from_its_options_or_else_from_the_warm_up) {
  std::vector<std::string> order;
  const hook slow_a = [&](const std::string& stage, std::int64_t) {
    if (stage == "a") std::this_thread::sleep_for(std::chrono::milliseconds(2));
    order.push_back(stage);
  };
  auto spec = pipeline_of({make_stage("a", "cpu_mix", {}), make_stage("b", "cpu_mix", {})}, 3, 1);
  spec.run.strategy = strategy::overlap;
  spec.run.workers = 1;
  spec.run.in_flight = 1;
  spec.run.policy = "shortest_first";
  host_session s(spec, slow_a);
  const auto measured_order = [&](const run_options& options) {
    order.clear();
    const run_record record = whole_run(s, options);
    EXPECT_EQ(record.policy->expected_from, options.expected_from);
    return std::vector<std::string>(order.end() - 6, order.end());
  };
  using testing::ElementsAre;
  for (const timing_method timing : {timing_method::none, timing_method::event}) {
    EXPECT_THAT(measured_order({.timing = timing}), ElementsAre("b", "a", "b", "a", "b", "a"));
    run_options from_a_result{.timing = timing, .warmup = 0};
    from_a_result.expected = {1, 2};
    from_a_result.expected_from = {"r.json"};
    EXPECT_THAT(measured_order(from_a_result), ElementsAre("a", "b", "a", "b", "a", "b"));
  }
}

TEST(session, records_the_order_that_its_policy_keeps) {
  const auto order_of = [](const std::string& policy) -> std::optional<urgency> {
    auto spec = chain();
    spec.run.strategy = strategy::overlap;
    spec.run.policy = policy;
    spec.run.deadline = 1'000'000'000;
    const run_record record = host_session(spec).run();
    return record.policy ? std::optional(record.policy->order) : std::nullopt;
  };
  EXPECT_EQ(order_of("deadline"), urgency::deadline);
  EXPECT_EQ(order_of("fixed_priority"), urgency::priority);
  EXPECT_EQ(order_of("least_slack"), urgency::none);
  EXPECT_EQ(order_of("oldest_frame"), std::nullopt);
}

TEST(session, counts_the_processor_time_of_the_measured_frames) {
  const hook at_frame = [](const std::string&, std::int64_t frame) {
    // By the processor time of this thread, so that it holds however busy the machine is.
    const auto used = [] {
      timespec t;
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
      return nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    };
    const nanoseconds end = used() + (frame == 0 ? 200'000'000 : 20'000'000);
    while (used() < end) {
    }
  };
  auto spec = chain();
  spec.run.frames = 2;
  host_session s(spec, at_frame);
  const run_record record = s.run();
  // The system may count in steps of a clock tick, at most 10 ms.
  EXPECT_GE(record.processor_time, 30'000'000);
  EXPECT_LT(record.processor_time, 200'000'000);  // the warm-up's are not among it
}

TEST(session, keeps_elements_of_its_outputs) {
  auto spec = chain();
  spec.stages = {make_stage("b", "cpu_mix", {}, 5)};
  host_session s(spec);
  EXPECT_EQ(s.run().outputs.at(0).values, std::vector<double>(64, 5 + 6));  // salt and last frame
}

TEST(session, tells_progress_of_both_batches) {
  host_session s(chain());
  bool warmup = false;
  bool measured = false;
  run_options options;
  options.on_progress = [&](const progress& p) {
    (p.warmup ? warmup : measured) = true;
    EXPECT_LE(p.done, p.total);
  };
  ASSERT_FALSE(s.run(options).failure);
  EXPECT_TRUE(warmup);
  EXPECT_TRUE(measured);
}

TEST(session, saves_inputs_and_outputs_as_numpy_files) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("graphline_session_" + std::to_string(::getpid()));
  host_session s(chain());
  ASSERT_FALSE(s.run().failure);
  s.save_tensors((folder / "deep").string());
  EXPECT_EQ(std::filesystem::file_size(folder / "deep" / "input.x.npy"), 128U + 64U * 8U);
  EXPECT_EQ(std::filesystem::file_size(folder / "deep" / "output.b.npy"), 128U + 64U * 8U);
  std::filesystem::remove_all(folder);
}

// What a record says of how a run was carried out, beside its samples.

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

run_record run_of(const pipeline_spec& spec) {
  host_session s(spec);
  return s.run();
}

/// By name, the thread of each frame.
std::vector<std::string> threads_of(const run_record& record, std::size_t stage) {
  std::vector<std::string> names;
  for (const auto thread : record.stages.at(stage).threads) {
    names.push_back(record.threads.at(thread));
  }
  return names;
}

TEST(recording, says_that_one_thread_does_it_all_under_async) {
  auto spec = chain();
  spec.run.strategy = strategy::async;
  for (const auto method : {timing_method::host, timing_method::sync, timing_method::event}) {
    spec.run.timing = method;
    const auto record = run_of(spec);
    EXPECT_THAT(record.threads, ElementsAre("main"));
    for (std::size_t s = 0; s < record.stages.size(); ++s) {
      EXPECT_EQ(threads_of(record, s).size(), 6U);
    }
  }
}

TEST(recording, has_the_time_that_the_device_was_at_work_within_each_span) {
  auto spec = chain();
  for (const auto method : {timing_method::event, timing_method::layers}) {
    for (const auto graphs : {graph_mode::off, graph_mode::stage, graph_mode::frame}) {
      spec.run.timing = method;
      spec.run.graphs = graphs;
      const auto record = run_of(spec);
      EXPECT_TRUE(record.device.one_at_a_time);
      EXPECT_GE(record.cpu_cores, 1);
      for (const auto& stage : record.stages) {
        ASSERT_EQ(stage.busy.size(), stage.device.size());
        for (std::size_t f = 0; f < stage.busy.size(); ++f) {
          EXPECT_GT(stage.busy[f], 0);
          EXPECT_LE(stage.busy[f], stage.device[f].length());
        }
      }
    }
  }
  spec.run.timing = timing_method::sync;
  spec.run.graphs = graph_mode::stage;
  for (const auto& stage : run_of(spec).stages) EXPECT_THAT(stage.busy, IsEmpty());
}

TEST(recording, says_which_workers_ran_cpu_stages_under_overlap) {
  auto spec = chain();
  spec.run.strategy = strategy::overlap;
  const auto record = run_of(spec);
  const auto cpu = std::ranges::find(record.stages, "b", &stage_record::name);
  const auto names = threads_of(record, static_cast<std::size_t>(cpu - record.stages.begin()));
  EXPECT_EQ(names.size(), 6U);
  EXPECT_THAT(names, Each(::testing::AnyOf(StartsWith("worker "), StartsWith("thread "))));
}

TEST(recording, has_the_launch_of_each_frames_graph_and_no_launches_of_stages) {
  auto spec = chain();
  spec.run.graphs = graph_mode::frame;
  const auto record = run_of(spec);
  ASSERT_EQ(record.launches.size(), record.frames.size());
  for (std::size_t f = 0; f < record.frames.size(); ++f) {
    EXPECT_EQ(record.launches[f].begin, record.frames[f].begin);
    EXPECT_GE(record.launches[f].end, record.launches[f].begin);
    EXPECT_LE(record.launches[f].end, record.frames[f].end);
  }
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const bool cpu = record.stages[s].on == side::cpu;
    EXPECT_EQ(record.stages[s].threads.size(), cpu ? 6U : 0U);
    EXPECT_THAT(threads_of(record, s), Each("host functions"));
  }
}

TEST(recording, says_what_each_stage_waits_for_and_what_hands_over_what) {
  const auto record = run_of(chain());
  ASSERT_EQ(record.stages.size(), 3U) << "the planner puts a copy in";
  EXPECT_THAT(record.stages[0].waits, IsEmpty());
  EXPECT_THAT(record.stages[1].waits, ElementsAre(wait_record{0, record.stages[1].waits[0].how}));
  EXPECT_THAT(record.stages[2].waits, ElementsAre(wait_record{1, satisfied_by::completion}));
  EXPECT_TRUE(record.stages[1].copy);

  ASSERT_GE(record.tensors.size(), 3U);
  for (const auto& tensor : record.tensors) {
    if (tensor.writer) {
      for (const auto reader : tensor.readers) EXPECT_LT(*tensor.writer, reader);
    }
  }
  const auto input = std::ranges::find(record.tensors, "x", &tensor_record::name);
  ASSERT_NE(input, record.tensors.end());
  EXPECT_EQ(input->writer, std::nullopt);
  EXPECT_THAT(input->readers, ElementsAre(0U));
  EXPECT_EQ(input->type.shape, shape({64}));
  EXPECT_EQ(record.source, std::nullopt) << "the pipeline was made in C++";
}

}  // namespace
}  // namespace graphline
