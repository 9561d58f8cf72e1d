#include "framework/analysis/run/frame_period.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "framework/analysis/run/summary.hpp"
#include "tests/analysis/simulated_queue.hpp"
#include "tests/analysis/time_units.hpp"
#include "tests/analysis/virtual_records.hpp"

namespace graphline {
namespace {

using samples::ms;
using samples::simulated_queue;

/// A frame is due every 10 ms and takes 2.9 ms.
run_record kept_schedule(int frames) {
  run_record record;
  record.run.arrival = arrival::constant;
  record.run.rate = 100;
  for (int i = 0; i < frames; ++i) {
    record.frames.push_back({i * 10 * ms, i * 10 * ms, i * 10 * ms + 29 * ms / 10});
  }
  return record;
}

/// Frames pass through two stages of 5 ms each, both always busy.
run_record filled_pipeline(int frames) {
  run_record record;
  record.run.in_flight = 2;
  for (int i = 0; i < frames; ++i) {
    record.frames.push_back({i * 5 * ms, i * 5 * ms, (i + 2) * 5 * ms});
  }
  return record;
}

/// Two concurrent frames of 10 ms: one frame per 5 ms.
run_record in_pairs(int frames) {
  run_record record;
  record.run.in_flight = 2;
  for (int i = 0; i < frames; ++i) {
    record.frames.push_back({i / 2 * 10 * ms, i / 2 * 10 * ms, (i / 2 + 1) * 10 * ms});
  }
  return record;
}

TEST(frame_period, is_the_arrival_interval_if_the_pipeline_keeps_up) {
  for (const int frames : {5, 10, 60}) {
    EXPECT_DOUBLE_EQ(*frame_period(kept_schedule(frames)), 10.0 * ms) << frames;
  }
}

TEST(frame_period, is_the_mean_arrival_interval_of_bursts_that_the_pipeline_completes) {
  const simulated_queue bursts{.mean_service = 5 * ms, .burst = 5};
  // An arrival of five frames in 50 ms, whichever part of the last burst belongs to the run.
  for (const std::int64_t frames : {45, 50}) {
    const auto record = bursts.run(100, frames, 1);
    EXPECT_DOUBLE_EQ(*frame_period(record), 10 * ms) << frames;
    EXPECT_DOUBLE_EQ(*offered_rate(record), 100) << frames;
  }
  const auto at_once = simulated_queue{.mean_service = 5 * ms, .burst = 9}.run(100, 9, 1);
  EXPECT_DOUBLE_EQ(*frame_period(at_once), 5 * ms);
  EXPECT_FALSE(offered_rate(at_once));
}

TEST(frame_period, is_that_of_a_trace_without_a_rate) {
  auto record = simulated_queue{.mean_service = 5 * ms}.run(100, 20, 1);
  record.run.arrival = arrival::trace;
  record.run.rate.reset();
  EXPECT_DOUBLE_EQ(*frame_period(record), 10 * ms);
  // To the time at which the next frame would be due.
  EXPECT_EQ(running_time(record), 200'000'000);
}

TEST(frame_period, is_empty_for_fewer_than_five_scheduled_frames) {
  for (const int in_flight : {1, 2, 8}) {
    for (const int frames : {1, 2, 4}) {
      auto record = kept_schedule(frames);
      record.run.in_flight = in_flight;
      EXPECT_FALSE(frame_period(record)) << frames;
      EXPECT_EQ(completions_of(record).time, 0) << frames;
    }
  }
  EXPECT_TRUE(frame_period(filled_pipeline(1)));  // a closed loop
}

// From first to last end, 9 frames in 86 ms would be 104.7 frame/s.
TEST(frame_period, does_not_depend_on_single_frames_if_the_pipeline_keeps_up) {
  auto record = kept_schedule(10);
  record.frames.front().end += 4 * ms;
  EXPECT_DOUBLE_EQ(*frame_period(record), 10.0 * ms);
  record.run.in_flight = 16;  // more than there are frames
  EXPECT_DOUBLE_EQ(*frame_period(record), 10.0 * ms);
  record.frames.back().end += 40 * ms;
  EXPECT_DOUBLE_EQ(*frame_period(record), 10.0 * ms);
}

// Frames of 25 ms, due every 10 ms, always overlap.
TEST(frame_period, is_never_shorter_than_the_arrival_interval) {
  auto record = kept_schedule(10);
  record.run.in_flight = 3;
  for (auto& frame : record.frames) frame.end = frame.due + 25 * ms;
  EXPECT_DOUBLE_EQ(*frame_period(record), 10.0 * ms);
  record.frames.front().end += 3 * ms;
  EXPECT_DOUBLE_EQ(*frame_period(record), 10.0 * ms);  // 9.857 from completion to completion
}

// Sequential frames of 5 ms, due every 4 ms.
TEST(frame_period, is_that_of_completions_under_overload) {
  for (const int in_flight : {1, 3, 16}) {
    auto record = kept_schedule(10);
    record.run.in_flight = in_flight;
    record.run.rate = 250;
    for (int i = 0; i < 10; ++i) {
      record.frames[static_cast<std::size_t>(i)] = {i * 4 * ms, i * 5 * ms, (i + 1) * 5 * ms};
    }
    EXPECT_DOUBLE_EQ(*frame_period(record), 5.0 * ms) << in_flight;
  }
}

TEST(frame_period, is_that_of_completions_if_the_pipeline_falls_behind_at_the_end) {
  auto record = kept_schedule(40);
  record.frames[38].end = 970 * ms;
  record.frames[39].end = record.frames[0].end + 39 * 25 * ms;
  EXPECT_DOUBLE_EQ(*frame_period(record), 25.0 * ms);
}

TEST(frame_period, excludes_the_time_to_fill_the_pipeline) {
  for (const int frames : {3, 4, 5, 10, 41}) {
    EXPECT_DOUBLE_EQ(*frame_period(filled_pipeline(frames)), 5.0 * ms) << frames;
  }
}

TEST(frame_period, does_not_depend_on_where_a_group_of_frames_is_cut) {
  for (const int frames : {4, 5, 10, 11, 40}) {
    EXPECT_DOUBLE_EQ(*frame_period(in_pairs(frames)), 5.0 * ms) << frames;
  }
}

TEST(frame_period, is_the_mean_time_of_a_frame_in_a_closed_loop_with_one_in_flight) {
  run_record record;
  record.frames = {{0, 0, 3 * ms}, {3 * ms, 3 * ms, 5 * ms}, {5 * ms, 5 * ms, 12 * ms}};
  EXPECT_DOUBLE_EQ(*frame_period(record), 4.0 * ms);
  EXPECT_DOUBLE_EQ(*frame_period(record), summarize(record).end_to_end->mean());
  record.frames.resize(1);
  EXPECT_DOUBLE_EQ(*frame_period(record), 3.0 * ms);
}

/// Busy time of the stages, host threads and device of a simulated run.
std::map<std::string, nanoseconds> busy_times(const run_record& record) {
  std::map<std::string, nanoseconds> busy;
  for (const auto& stage : record.stages) {
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      for (const auto* column : {&stage.cpu, &stage.synced, &stage.enqueued}) {
        if (f >= column->size()) continue;
        const auto length = (*column)[f].length();
        if (column != &stage.enqueued) busy[stage.name] += length;
        if (f < stage.threads.size()) busy[record.threads[stage.threads[f]]] += length;
      }
      if (f < stage.busy.size()) {
        busy[stage.name] += stage.busy[f];
        if (record.device.one_at_a_time) busy["the device"] += stage.busy[f];
      }
    }
  }
  return busy;
}

TEST(frame_period, is_never_shorter_than_the_busy_time_of_any_resource) {
  int limited = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const run_record record = samples::virtual_record(samples::draw_execution(seed));
    const auto period = frame_period(record);
    ASSERT_TRUE(period) << seed;
    const double all = *period * static_cast<double>(record.frames.size());
    double most = 0;
    for (const auto& [what, time] : busy_times(record)) {
      EXPECT_GE(all * (1 + 1e-12), static_cast<double>(time)) << what << ", seed " << seed;
      most = std::max(most, static_cast<double>(time));
    }
    if (all < 1.000001 * most) ++limited;
  }
  EXPECT_GT(limited, 20) << "none of these runs would show it";
}

/// One worker, two frames in flight, two stages of 5 ms: a0 a1 b0 a2 b1 a3 b2 b3.
TEST(frame_period, is_limited_by_a_worker_if_frames_were_half_done_at_the_first_completion) {
  run_record record;
  record.run.in_flight = 2;
  record.frames = {
      {0, 0, 15 * ms}, {0, 0, 25 * ms}, {15 * ms, 15 * ms, 35 * ms}, {25 * ms, 25 * ms, 40 * ms}};
  EXPECT_DOUBLE_EQ(*frame_period(record), 8.75 * ms);  // no stage is timed
  record.threads = {"main", "worker 1"};
  record.stages.resize(2);
  const int begins[2][4] = {{0, 5, 15, 25}, {10, 20, 30, 35}};
  for (std::size_t s = 0; s < 2; ++s) {
    record.stages[s].on = side::cpu;
    record.stages[s].threads.assign(4, 1);
    for (const int at : begins[s]) record.stages[s].cpu.push_back({at * ms, (at + 5) * ms});
  }
  EXPECT_DOUBLE_EQ(*frame_period(record), 10.0 * ms);
}

TEST(frame_period, counts_only_completed_frames) {
  auto record = kept_schedule(9);
  for (const std::size_t i : {6U, 4U, 2U}) {
    record.load.dropped.insert(record.load.dropped.begin(), record.frames[i].due);
    record.frames.erase(record.frames.begin() + static_cast<std::ptrdiff_t>(i));
  }
  EXPECT_DOUBLE_EQ(*frame_period(record), 16.0 * ms);  // six frames in 80 ms, counting one end
  EXPECT_DOUBLE_EQ(*offered_rate(record), 100);
}

TEST(frame_period, counts_from_the_begin_if_all_frames_ran_concurrently) {
  EXPECT_DOUBLE_EQ(*frame_period(in_pairs(2)), 5.0 * ms);
}

TEST(frame_period, is_empty_without_frames_or_time) {
  EXPECT_FALSE(frame_period(run_record{}));
  run_record record;
  record.frames = {{5, 5, 5}};
  EXPECT_FALSE(frame_period(record));
}

}  // namespace
}  // namespace graphline
