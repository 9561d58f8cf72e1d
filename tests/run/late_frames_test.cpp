// What becomes of frames whose deadline has passed, in virtual time.

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "framework/analysis/run/ready_times.hpp"
#include "framework/plan/policies/policies.hpp"
#include "framework/run/execute/frame_executor.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "tests/run/frame_scheduling.hpp"
#include "tests/run/list_scheduling.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline {
namespace {

using namespace testing_plans;

struct cut_counts {
  std::size_t frames = 0;
  std::size_t waits = 0;  ///< of stages of other frames, for them
};

/// Compares the frames that complete, and those that are cut short, with the definition.
template <template <class> class Executor>
void expect_cut_as_defined(const drawn_run& run, std::uint64_t seed, cut_counts& cut) {
  const outcome expected = list_scheduling(run).carry_out();
  const virtual_run made = run_in_virtual_time<Executor>(run);
  ASSERT_EQ(made.result.completed, std::ssize(run.times)) << "seed " << seed;
  const run_passes passes(made.record);
  std::vector<nanoseconds> dropped;
  std::size_t kept = 0;
  for (std::size_t f = 0; f < run.times.size(); ++f) {
    if (expected.cut[f]) {
      dropped.push_back(expected.frames[f].begin);
      continue;
    }
    ASSERT_LT(kept, made.record.frames.size()) << "seed " << seed;
    const frame_record& frame = made.record.frames[kept];
    ASSERT_EQ((span{frame.begin, frame.end}), expected.frames[f]) << "seed " << seed;
    for (std::size_t s = 0; s < run.planned.stages.size(); ++s) {
      const stage_record& stage = made.record.stages[s];
      const bool on_cpu = stage.on == side::cpu;
      const nanoseconds end = on_cpu ? stage.cpu[kept].end : stage.device[kept].end;
      ASSERT_EQ(end, expected.stages[f][s].end) << "seed " << seed << " stage " << s;
      const std::int32_t by = stage.causes[kept];
      if (by != cause::previous_frame && by != cause::dropped_frame) continue;
      ASSERT_EQ(by == cause::dropped_frame, expected.cut[f - 1]) << "seed " << seed;
      const auto ready = ready_time(made.record, passes, s, kept);
      ASSERT_EQ(ready.has_value(), !expected.cut[f - 1]) << "seed " << seed;
      if (ready && on_cpu) {
        ASSERT_EQ(*ready, expected.stages[f - 1][s].end) << "seed " << seed;
      }
      cut.waits += ready ? 0 : 1;
    }
    ++kept;
  }
  EXPECT_EQ(made.record.frames.size(), kept);
  EXPECT_EQ(made.record.load.dropped, dropped) << "seed " << seed;
  EXPECT_EQ(made.record.load.cut_short, std::ssize(dropped));
  for (const stage_record& stage : made.record.stages) EXPECT_EQ(stage.causes.size(), kept);
  cut.frames += dropped.size();
}

/// Gives the frames a deadline that about half of them miss.
drawn_run with_deadline(drawn_run run, std::uint64_t seed) {
  std::vector<nanoseconds> times;
  for (const span& frame : list_scheduling(run).carry_out().frames) {
    times.push_back(frame.end - frame.begin);
  }
  std::ranges::sort(times);
  const auto share = static_cast<nanoseconds>(40 + seed % 60);
  run.planned.run.deadline = times[times.size() / 2] * share / 100 + 1;
  run.planned.run.late = late_rule::skip_rest;
  return run;
}

TEST(late_frames, are_cut_short_under_overlap_as_defined) {
  cut_counts cut;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const std::size_t in_flight : {1, 2, 4, 8}) {
      const auto run = with_deadline(draw(seed, strategy::overlap, in_flight), seed);
      expect_cut_as_defined<ready_executor>(run, seed, cut);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cut.frames, 1000U);
  EXPECT_GT(cut.waits, 100U);
}

TEST(late_frames, are_cut_short_on_one_host_thread_as_defined) {
  cut_counts cut;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const auto how : {strategy::serial, strategy::async}) {
      const auto run = with_deadline(draw(seed, how, 1), seed);
      expect_cut_as_defined<sequential_executor>(run, seed, cut);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cut.frames, 500U);
}

/// With a window and a policy, and with several frames in flight on one thread: none is lost.
TEST(late_frames, never_keep_their_slot) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      drawn_run run = draw(seed, how, 3);
      run.planned.run.late = late_rule::skip_rest;
      run.planned.run.deadline =
          std::accumulate(run.times[0].begin(), run.times[0].end(), nanoseconds{1}) * 2 / 3 + 1;
      run.planned.run.window = static_cast<std::int64_t>(seed % 3);
      for (planned_stage& stage : run.planned.stages) {
        if (stage.on == side::device) stage.signals = stage.host_waits = true;  // for the window
      }
      run.expected.assign(run.planned.stages.size(), 10);
      const policy_kind& kind = builtin_policies()[seed % builtin_policies().size()];
      const bool has_parameters = kind.name == "random";
      if (how == strategy::overlap && !has_parameters) run.planned.policy = {&kind, {}};
      const virtual_run made = how == strategy::async
                                   ? run_in_virtual_time<sequential_executor>(run)
                                   : run_in_virtual_time<ready_executor>(run);
      EXPECT_EQ(made.result.failure, std::nullopt) << seed;
      EXPECT_EQ(made.result.completed, std::ssize(run.times)) << seed;
      EXPECT_EQ(made.record.frames.size() + made.record.load.dropped.size(), run.times.size());
    }
  }
}

/// One CPU stage of these times, with frames due 10 ns apart.
drawn_run scheduled(std::vector<nanoseconds> times, late_rule late, nanoseconds deadline) {
  drawn_run run;
  run.planned = plan_of({side::cpu, side::cpu}, {{0, 1}}, streams);
  for (const nanoseconds time : times) run.times.push_back({time, 1});
  finish(run.planned, strategy::async, graph_mode::stage, 1);
  run.planned.run.arrival = arrival::constant;
  run.planned.run.rate = 1e6;  // 1000 ns apart
  run.planned.run.deadline = deadline;
  run.planned.run.late = late;
  return run;
}

std::vector<nanoseconds> due_of(const run_record& record) {
  std::vector<nanoseconds> due;
  for (const frame_record& frame : record.frames) due.push_back(frame.due);
  return due;
}

TEST(late_frames, do_not_begin) {
  using testing::ElementsAre;
  // Frame 0 takes 3500 ns: frames 1 and 2 could begin 2501 and 1501 ns late, frame 3 501 ns.
  const std::vector<nanoseconds> times = {3500, 100, 100, 100, 100};
  const auto record_of = [&](late_rule late, nanoseconds deadline) {
    return run_in_virtual_time<sequential_executor>(scheduled(times, late, deadline)).record;
  };
  const run_record finish = record_of(late_rule::finish, 1500);
  EXPECT_EQ(finish.frames.size(), 5U);
  const run_record drop = record_of(late_rule::drop, 1500);
  EXPECT_THAT(due_of(drop), ElementsAre(0, 3000, 4000));
  EXPECT_THAT(drop.load.dropped, ElementsAre(1000, 2000));
  EXPECT_EQ(drop.load.cut_short, 0);
  EXPECT_EQ(drop.frames[1].begin, 3501);
  EXPECT_THAT(due_of(record_of(late_rule::drop, 1501)), ElementsAre(0, 2000, 3000, 4000))
      << "at its deadline, a frame is not late";
  const run_record skip = record_of(late_rule::skip_rest, 1500);
  EXPECT_THAT(due_of(skip), ElementsAre(3000, 4000));
  EXPECT_THAT(skip.load.dropped, ElementsAre(0, 1000, 2000));
  // Frame 0 ends at 3500; frame 2 begins then, at its deadline, and ends after its first stage.
  EXPECT_EQ(skip.load.cut_short, 2);
  EXPECT_EQ(skip.frames[0].begin, 3600);
}

TEST(late_frames, do_not_begin_as_one_graph) {
  drawn_run run = scheduled({3500, 100, 100, 100, 100}, late_rule::drop, 1500);
  run.planned.run.graphs = graph_mode::frame;
  run.planned.streams.clear();
  finish(run.planned, strategy::async, graph_mode::frame, 1);
  random_source random(0);
  make_nodes(run.planned, 1, random);
  const run_record record = run_in_virtual_time<frame_executor>(run).record;
  EXPECT_THAT(record.load.dropped, testing::ElementsAre(1000, 2000));
}

/// Frames that run together are cut short once all of them are late.
TEST(late_frames, that_run_together_are_cut_short_together) {
  drawn_run run = scheduled({100, 3500, 3500, 100, 100, 100, 100}, late_rule::skip_rest, 2500);
  run.planned.run.batch_frames = 2;
  run.planned.run.batch_wait = 1000;
  const run_record record = run_in_virtual_time<sequential_executor>(run).record;
  // Due at 0 and 1000, begun at 1000 and done at 1101; due at 2000 and 3000, begun at 3000, after
  // the first stage at 6500, which is beyond 5500.
  ASSERT_GE(record.load.dropped.size(), 2U);
  EXPECT_EQ(record.load.dropped[0], 2000);
  EXPECT_EQ(record.load.dropped[1], 3000);
  EXPECT_EQ(record.load.cut_short % 2, 0);
  std::size_t frames = 0;
  for (const batch_record& each : record.batches) frames += static_cast<std::size_t>(each.frames);
  EXPECT_EQ(frames, record.frames.size());
}

struct holding_policy final : scheduling_policy {
  policy_rank rank(const ready_job&) const override { return {}; }
  nanoseconds hold_until(const ready_job& job, nanoseconds) const override {
    return job.stage.position == 1 ? job.due + 1'000'000 : 0;
  }
};

TEST(late_frames, are_not_held_back) {
  policy_kind kind{.name = "holding"};
  kind.holds = true;
  kind.make = [](const arguments&, std::span<const policy_stage>, std::uint64_t) {
    return std::make_unique<holding_policy>();
  };
  drawn_run run;
  run.planned = plan_of({side::cpu, side::cpu}, {{0, 1}}, streams);
  run.times.assign(3, {10, 10});
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  run.planned.policy = {&kind, {}};
  run.planned.run.deadline = 50;
  run.planned.run.late = late_rule::skip_rest;
  const virtual_run made = run_in_virtual_time<ready_executor>(run);
  EXPECT_EQ(made.result.completed, 3);
  EXPECT_THAT(made.record.load.dropped, testing::ElementsAre(0, 51, 102));
}

TEST(late_frames, leave_failures_of_the_device_to_be_reported) {
  for (const auto how : {strategy::async, strategy::overlap}) {
    drawn_run run;
    run.planned = plan_of({side::device, side::cpu, side::device}, {{0, 1}, {1, 2}}, streams);
    run.times = {{100, 10, 10}, {10, 10, 10}, {-1, 10, 10}, {10, 10, 10}};
    finish(run.planned, how, graph_mode::stage, 1);
    run.planned.run.deadline = 50;
    run.planned.run.late = late_rule::skip_rest;
    const virtual_run made = how == strategy::async ? run_in_virtual_time<sequential_executor>(run)
                                                    : run_in_virtual_time<ready_executor>(run);
    ASSERT_TRUE(made.result.failure);
    EXPECT_THAT(*made.result.failure, testing::HasSubstr("stage '0' (drawn.device), frame 2"));
    EXPECT_THAT(made.record.load.dropped, testing::ElementsAre(0));
    EXPECT_EQ(made.record.frames.size(), 1U);
  }
}

}  // namespace
}  // namespace graphline
