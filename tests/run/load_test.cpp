#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/base/error.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// device `d` -> CPU `c` -> device `e`, with `per_second` frames due at a constant rate.
pipeline_spec loaded(const way& w, double per_second) {
  auto spec = pipeline_of({make_stage("d", "device_mix", {}), make_stage("c", "cpu_mix", {"d"}),
                           make_stage("e", "device_mix", {"c"})},
                          40, 2);
  w.set(spec.run);
  spec.run.arrival = arrival::constant;
  spec.run.rate = per_second;
  return spec;
}

constexpr double once_an_hour = 1.0 / 3600;

void sleep_for(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// In the measured frames.
hook sleep_in_each_frame(int milliseconds) {
  return [=](const std::string&, std::int64_t frame) {
    if (frame >= 2) sleep_for(milliseconds);
  };
}

class open_load : public testing::TestWithParam<way> {};

TEST_P(open_load, makes_frames_due_at_their_rate_whenever_they_begin) {
  host_session s(loaded(GetParam(), 1000));
  const run_record record = whole_run(s);
  ASSERT_EQ(record.frames.size(), 40U);
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const auto& frame = record.frames[i];
    EXPECT_EQ(frame.due, record.frames[0].due + static_cast<nanoseconds>(i) * 1'000'000);
    EXPECT_LE(frame.due, frame.begin);
    EXPECT_LE(frame.begin, frame.end);
  }
  EXPECT_TRUE(record.load.dropped.empty());
}

TEST_P(open_load, shows_a_stall_of_100_ms_at_100_frames_a_second_as_ten_late_frames_not_one) {
  const hook at_frame = [](const std::string&, std::int64_t frame) {
    if (frame == 7) sleep_for(100);
  };
  host_session s(loaded(GetParam(), 100), at_frame);
  const run_record record = whole_run(s);
  // Frames that were due 0, 10, ... 90 ms into the stall are at least 100, 90, ... 10 ms late,
  // however fast or slow the machine is.
  const auto late = std::count_if(record.frames.begin(), record.frames.end(),
                                  [](const auto& f) { return f.end - f.due > 5'000'000; });
  EXPECT_GE(late, 8);
}

TEST_P(open_load, drops_frames_of_a_rate_that_is_too_high_and_keeps_others_from_waiting_long) {
  const hook at_frame = sleep_in_each_frame(1);
  for (const auto policy : {queue_policy::drop_newest, queue_policy::drop_oldest}) {
    auto spec = loaded(GetParam(), 100'000);
    spec.run.frames = 400;
    spec.run.queue = 4;
    spec.run.when_full = policy;
    host_session s(spec, at_frame);
    const run_record record = whole_run(s);
    EXPECT_EQ(record.frames.size() + record.load.dropped.size(), 400U);
    // 400 frames are due within 4 ms, in which few can begin, one after another at 1 ms each.
    EXPECT_GT(record.load.dropped.size(), 200U);
    EXPECT_EQ(record.load.found_full, static_cast<std::int64_t>(record.load.dropped.size()));
    EXPECT_EQ(record.load.longest_queue, 4);
    EXPECT_TRUE(std::is_sorted(record.load.dropped.begin(), record.load.dropped.end()));
    // The first five find room; whether they may stay, or the last comes in, is the policy's.
    const nanoseconds first_due = record.frames[0].due;
    if (policy == queue_policy::drop_newest) {
      EXPECT_EQ(record.frames[4].due, first_due + 4 * 10'000);
    } else {
      EXPECT_EQ(record.frames.back().due, first_due + 399 * 10'000);
    }
    for (const auto& frame : record.frames) {
      const auto before_it = std::count_if(
          record.frames.begin(), record.frames.end(),
          [&](const auto& other) { return other.begin > frame.due && other.begin < frame.begin; });
      // Those ahead of it in the queue, and one that was taken off it and about to begin.
      EXPECT_LE(before_it, 4);
    }
  }
}

TEST_P(open_load, sees_a_frame_end_and_a_request_to_stop_while_the_next_is_due_in_an_hour) {
  host_session s(loaded(GetParam(), once_an_hour));
  stop_request stop;
  run_options options;
  options.stop = &stop;
  options.on_progress = [&stop](const progress& p) {
    if (!p.warmup && p.done == 1) stop.raise();
  };
  const run_record record = s.run(options);
  EXPECT_TRUE(record.interrupted);
  EXPECT_FALSE(record.failure);
  EXPECT_EQ(record.frames.size(), 1U);
}

TEST_P(open_load, drops_late_frames_instead_of_beginning_them) {
  auto spec = loaded(GetParam(), 1000);
  spec.run.deadline = 20'000'000;
  spec.run.late = late_rule::drop;
  host_session s(spec, [](const std::string&, std::int64_t frame) {
    if (frame == 7) sleep_for(100);
  });
  const run_record record = whole_run(s);
  EXPECT_EQ(record.frames.size() + record.load.dropped.size(), 40U);
  EXPECT_EQ(record.load.cut_short, 0);
  // The stall is longer than what is left of the run, so the last frame is late when it ends.
  EXPECT_GT(record.load.dropped.size(), 10U);
  EXPECT_TRUE(std::is_sorted(record.load.dropped.begin(), record.load.dropped.end()));
  for (const auto& frame : record.frames) EXPECT_LE(frame.begin - frame.due, 30'000'000);
}

/// Frames that stages of 60 ms make late with a deadline of 40 ms.
TEST_P(open_load, starts_no_stage_of_a_frame_after_its_deadline) {
  if (GetParam().graphs == graph_mode::frame) GTEST_SKIP() << "check refuses it";
  for (const auto how : {arrival::closed, arrival::constant}) {
    auto spec =
        pipeline_of({make_stage("d", "device_mix", {}), make_stage("c", "cpu_mix", {"d"}),
                     make_stage("e", "device_mix", {"c"}), make_stage("f", "cpu_mix", {"e"})},
                    40, 2);
    GetParam().set(spec.run);
    spec.run.arrival = how;
    if (how != arrival::closed) spec.run.rate = 200;
    spec.run.deadline = 40'000'000;
    spec.run.late = late_rule::skip_rest;
    std::atomic<std::size_t> last_stages = 0;
    host_session s(spec, [&](const std::string& stage, std::int64_t frame) {
      if (frame < 2) return;
      if (stage == "c" && frame % 10 == 7) sleep_for(60);
      if (stage == "f") ++last_stages;
    });
    const run_record record = whole_run(s);
    EXPECT_EQ(record.frames.size() + record.load.dropped.size(), 40U);
    EXPECT_GE(record.load.cut_short, how == arrival::closed ? 4 : 1);
    EXPECT_EQ(last_stages, record.frames.size());
    for (const auto& stage : record.stages) {
      EXPECT_EQ(stage.cpu.size(), stage.on == side::cpu ? record.frames.size() : 0);
      for (std::size_t f = 0; f < stage.cpu.size(); ++f) {
        EXPECT_LE(record.frames[f].begin, stage.cpu[f].begin);
        EXPECT_LE(stage.cpu[f].begin, record.frames[f].due + *spec.run.deadline);
        EXPECT_LE(stage.cpu[f].end, record.frames[f].end);
      }
    }
    if (how == arrival::closed) {
      EXPECT_EQ(whole_run(s).outputs.size(), 1U) << "of the last frame, which was not cut short";
    }
  }
}

TEST_P(open_load, stops_and_fails_in_a_frame_that_is_cut_short) {
  if (GetParam().graphs == graph_mode::frame) GTEST_SKIP() << "check refuses it";
  for (const bool fails : {false, true}) {
    auto spec = loaded(GetParam(), 200);
    spec.run.frames = 400;
    spec.run.deadline = 40'000'000;
    spec.run.late = late_rule::skip_rest;
    stop_request stop;
    std::atomic<bool> once = false;
    host_session s(spec, [&](const std::string& stage, std::int64_t frame) {
      if (stage != "c" || frame < 10 || once.exchange(true)) return;
      sleep_for(60);
      if (fails) throw std::runtime_error("no more film");
      stop.raise();
    });
    run_options options;
    options.stop = &stop;
    const run_record record = s.run(options);
    EXPECT_EQ(record.interrupted, !fails);
    EXPECT_EQ(record.failure.has_value(), fails);
    EXPECT_GE(record.load.cut_short, fails ? 0 : 1);
    EXPECT_LT(record.frames.size(), 400U);
  }
}

TEST_P(open_load, ends_at_a_failure_and_keeps_the_frames_before) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (stage == "c" && frame == 20) throw std::runtime_error("no more film");
  };
  host_session s(loaded(GetParam(), 2'000), at_frame);
  const run_record record = s.run();
  EXPECT_EQ(record.failure, "stage 'c' (cpu_mix), frame 20: no more film");
  EXPECT_EQ(record.frames.size(), 18U);  // 20 less 2 of warm-up
}

TEST_P(open_load, counts_every_frame_that_was_due_when_a_run_ends_early) {
  const auto policies = {queue_policy::block, queue_policy::drop_newest, queue_policy::drop_oldest};
  for (const auto policy : policies) {
    auto spec = loaded(GetParam(), 1000);
    spec.run.frames = 100'000;
    spec.run.queue = 4;
    spec.run.when_full = policy;
    spec.run.max_time = 50'000'000;
    host_session s(spec, sleep_in_each_frame(3));
    const run_record record = s.run();
    ASSERT_FALSE(record.failure);
    ASSERT_GT(record.frames.size(), 0U);
    const auto& load = record.load;
    auto due = load.dropped;
    for (const auto& frame : record.frames) due.push_back(frame.due);
    due.insert(due.end(), load.unfinished.begin(), load.unfinished.end());
    std::sort(due.begin(), due.end());
    for (std::size_t i = 0; i < due.size(); ++i) {
      ASSERT_EQ(due[i], due.front() + static_cast<nanoseconds>(i) * 1'000'000);
    }
    EXPECT_LE(due.back(), load.ended);
    EXPECT_GT(due.back() + 1'000'000, load.ended);
    EXPECT_EQ(frames_due(record), due.size());
    EXPECT_EQ(record.run.frames, static_cast<std::int64_t>(due.size()));
    EXPECT_NEAR(offered_rate(record).value(), 1000, 1e-6);
    EXPECT_GE(load.ended, record.frames.back().end);
  }
}

TEST_P(open_load, counts_what_a_failure_leaves_in_flight_and_in_the_queue) {
  const hook at_frame = [](const std::string& stage, std::int64_t frame) {
    if (frame >= 2) sleep_for(3);
    if (stage == "c" && frame == 7) throw std::runtime_error("no more film");
  };
  host_session s(loaded(GetParam(), 2000), at_frame);
  const run_record record = s.run();
  ASSERT_TRUE(record.failure);
  ASSERT_GT(record.load.unfinished.size(), 0U);
  const auto& first = record.frames.front();
  EXPECT_EQ(record.load.unfinished.front(),
            first.due + static_cast<nanoseconds>(record.frames.size()) * 500'000);
  EXPECT_LE(record.load.unfinished.back(), record.load.ended);
}

INSTANTIATE_TEST_SUITE_P(
    run, open_load,
    testing::Values(way{strategy::serial, 1}, way{strategy::async, 1}, way{strategy::async, 3},
                    way{strategy::async, 2, graph_mode::stage, wait_mode::yield},
                    way{strategy::async, 2, graph_mode::off, wait_mode::spin},
                    way{strategy::overlap, 1}, way{strategy::overlap, 3},
                    way{strategy::overlap, 2, graph_mode::stage, wait_mode::yield},
                    way{strategy::overlap, 1, graph_mode::off, wait_mode::spin},
                    way{strategy::async, 1, graph_mode::frame},
                    way{strategy::async, 3, graph_mode::frame},
                    way{strategy::overlap, 2, graph_mode::frame, wait_mode::spin}),
    [](const auto& tested) { return name_of(tested.param); });

TEST_P(open_load, follows_a_trace_with_phase_jitter_and_bursts) {
  const temporary_folder folder;
  auto spec = loaded(GetParam(), 1000);
  spec.run.arrival = arrival::trace;
  spec.run.arrival_file = folder.write("a.csv", "due_ms\n0\n1\n1\n7\n");
  spec.run.rate.reset();
  spec.run.phase = 3'000'000;
  spec.run.jitter = 400'000;
  spec.run.burst = 2;
  host_session s(spec);
  const run_record record = whole_run(s);
  EXPECT_EQ(record.run.frames, 8);
  ASSERT_EQ(record.frames.size(), 8U);
  const nanoseconds ms = 1'000'000;
  const nanoseconds due[] = {0, 0, ms, ms, ms, ms, 7 * ms, 7 * ms};
  bool jittered = false;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto& frame = record.frames[i];
    EXPECT_EQ(frame.due - record.frames[0].due, due[i]) << i;
    EXPECT_GE(frame.begin, frame.due);
    jittered |= frame.begin > frame.due + 1000;
  }
  EXPECT_TRUE(jittered);
}

TEST(open_load_session, runs_no_more_frames_than_a_trace_has) {
  const temporary_folder folder;
  auto spec = loaded({strategy::async, 1}, 1000);
  spec.run.arrival = arrival::trace;
  spec.run.arrival_file = folder.write("a.csv", "0\n0.001\n0.004\n");
  host_session s(spec);  // the mean rate of the file is 500 frames a second
  run_options options;
  options.frames = 100;
  options.rate = 2000;
  const run_record record = s.run(options);
  EXPECT_EQ(record.run.frames, 3);
  ASSERT_EQ(record.frames.size(), 3U);
  EXPECT_EQ(record.frames[1].due - record.frames[0].due, 250'000);
  EXPECT_EQ(record.frames[2].due - record.frames[0].due, 1'000'000);
}

TEST(open_load_session, takes_another_rate_for_a_run_and_none_that_makes_no_sense) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(loaded({strategy::async, 1}, 1000), registry), *dev);
  run_options options;
  options.rate = 2000;
  const run_record record = s.run(options);
  EXPECT_EQ(record.run.rate, 2000);
  EXPECT_EQ(record.frames.at(1).due - record.frames.at(0).due, 500'000);
  for (const double wrong : {0.0, -1.0, 2e6}) {
    options.rate = wrong;
    EXPECT_THROW(s.run(options), input_error) << wrong;
  }
}

TEST(open_load_session, draws_the_same_random_arrivals_for_the_same_seed_and_pipeline) {
  const auto due_of = [&](const char* name, std::uint64_t seed) {
    auto spec = loaded({strategy::async, 1}, 10'000);
    spec.name = {name};
    spec.run.arrival = arrival::poisson;
    spec.run.seed = seed;
    host_session s(spec);
    const run_record record = s.run();
    std::vector<nanoseconds> due;
    for (const auto& frame : record.frames) due.push_back(frame.due - record.frames[0].due);
    return due;
  };
  const auto first = due_of("camera", 1);
  EXPECT_EQ(due_of("camera", 1), first);
  EXPECT_NE(due_of("camera", 2), first);
  EXPECT_NE(due_of("radar", 1), first);
}

}  // namespace
}  // namespace graphline
