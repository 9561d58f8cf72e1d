#include "framework/analysis/run/overload.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>

#include "framework/analysis/analyze.hpp"
#include "framework/base/random.hpp"
#include "tests/analysis/simulated_queue.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::ms;
using samples::simulated_queue;

run_record constant_load(double rate, int frames) {
  return simulated_queue{.mean_service = 5 * ms}.run(rate, frames, 1);
}

/// Percentage of runs of a queue with Poisson arrivals in which overload is detected.
double found_in(double load, bool random, int frames, int runs) {
  const simulated_queue queue{
      .arrival = arrival::poisson, .mean_service = 5 * ms, .random = random};
  int found = 0;
  for (int seed = 0; seed < runs; ++seed) {
    const auto record = queue.run(load * 200, frames, static_cast<std::uint64_t>(seed));
    found += overload_of(record).has_value();
  }
  return 100.0 * found / runs;
}

/// One server with 5 ms per frame and a queue of `room` frames. A frame due when the queue is full
/// is dropped, or replaces the oldest waiting frame.
run_record bounded_queue(double rate, std::size_t room, queue_policy full, arrival how, int frames,
                         std::uint64_t seed = 1) {
  std::mt19937_64 generator(seed);
  run_record record;
  record.run.arrival = how;
  record.run.rate = rate;
  std::deque<double> waiting;
  double free = 0;
  double due = 0;
  const auto serve_until = [&](double time) {
    while (!waiting.empty() && std::max(free, waiting.front()) <= time) {
      const double begin = std::max(free, waiting.front());
      free = begin + 5 * ms;
      record.frames.push_back(
          {std::llround(waiting.front()), std::llround(begin), std::llround(free)});
      waiting.pop_front();
    }
  };
  for (int i = 0; i < frames; ++i) {
    serve_until(due);
    waiting.push_back(due);
    serve_until(due);
    if (waiting.size() > room) {
      const bool oldest = full == queue_policy::drop_oldest;
      record.load.dropped.push_back(std::llround(oldest ? waiting.front() : waiting.back()));
      oldest ? waiting.pop_front() : waiting.pop_back();
    }
    const double gap = 1e9 / rate;
    due += how == arrival::poisson ? -std::log1p(-uniform_unit(generator)) * gap : gap;
  }
  serve_until(1e18);
  return record;
}

// Frames of 5 ms, due every 4.545 ms: frame i waits i * 0.4545 ms, so the median of n frames is 5
// ms + n / 2 * 0.4545 ms: 95.5 ms for 400 frames, 186.4 ms for 800. At 220 arrivals per second,
// latency grows by 100 ms per second.
TEST(overload, is_found_where_latency_grows_with_the_length_of_the_run) {
  for (const int frames : {400, 800}) {
    const auto found = overload_of(constant_load(220, frames));
    ASSERT_TRUE(found) << frames;
    EXPECT_NEAR(found->offered, 220, 1e-3);
    EXPECT_NEAR(found->completed, 200, 1e-3);
    EXPECT_NEAR(found->growth.value(), 100 * ms, 1e-3 * ms);
  }
  const auto said = overload_finding(*overload_of(constant_load(220, 400)));
  EXPECT_EQ(said.how, finding_severity::failure);
  EXPECT_EQ(*said.find("rates"), finding::figure("200 of 220 offered frame/s"));
  EXPECT_EQ(*overload_finding({1e6, 12345.6, 0, {}}).find("rates"),
            finding::figure("12346 of 1000000 offered frame/s"));
  EXPECT_EQ(to_text(std::get<quantity>(*said.find("growth"))), "100 ms");
  EXPECT_EQ(said.find("dropped"), nullptr);
}

TEST(overload, is_found_in_short_runs_but_not_of_a_few_frames) {
  EXPECT_TRUE(overload_of(constant_load(500, 15)));
  EXPECT_FALSE(overload_of(constant_load(500, 14)));
}

TEST(overload, is_evident_where_nearly_all_frames_are_dropped_and_few_completed) {
  for (const auto policy : {queue_policy::drop_newest, queue_policy::drop_oldest}) {
    for (const std::size_t room : {1, 5, 12, 40}) {
      const auto record = bounded_queue(1e6, room, policy, arrival::constant, 300);
      const auto found = overload_of(record);
      ASSERT_TRUE(found) << room;
      EXPECT_NEAR(found->completed, 200, 1e-3);
      EXPECT_NEAR(found->offered, 1e6, 1);
      EXPECT_EQ(found->dropped, 300 - record.frames.size());
    }
  }
  auto several = bounded_queue(1e6, 1, queue_policy::drop_newest, arrival::constant, 300);
  several.run.in_flight = 2;  // concurrent in two slots
  several.frames[1].begin = several.frames[0].begin;
  several.frames[1].end = several.frames[0].end;
  EXPECT_NEAR(overload_of(several).value().completed, 400, 1e-3);
}

TEST(overload, is_not_found_in_a_few_frames_with_one_slow_frame) {
  auto record = bounded_queue(1000, 1, queue_policy::drop_newest, arrival::constant, 300);
  for (auto& frame : record.frames) frame.end = frame.begin + 500'000;  // half of 1 ms
  record.frames.resize(10);
  EXPECT_FALSE(overload_of(record));
}

TEST(overload, counts_waiting_frames_of_a_run_cut_off) {
  auto record = constant_load(400, 40);
  record.load.ended = record.frames[9].end;
  for (const auto& frame : record.frames) {
    if (frame.due <= record.load.ended && &frame > &record.frames[9]) {
      record.load.unfinished.push_back(frame.due);
    }
  }
  record.frames.resize(10);
  ASSERT_EQ(record.load.unfinished.size(), 11U);
  const auto found = overload_of(record);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->offered, 400, 1e-3);
  EXPECT_NEAR(found->completed, 200, 1e-3);
  EXPECT_NEAR(found->growth.value(), 1000 * ms, 1e-3 * ms);
}

TEST(overload, is_not_found_if_the_pipeline_keeps_up) {
  for (const double rate : {20, 100, 180, 199, 200}) {
    EXPECT_FALSE(overload_of(constant_load(rate, 400))) << rate;
  }
  EXPECT_FALSE(overload_of(simulated_queue{.mean_service = 5 * ms}.run({}, 400, 1)));
  run_record closed = constant_load(220, 400);
  closed.run.arrival = arrival::closed;
  EXPECT_FALSE(overload_of(closed));
}

TEST(overload, is_not_found_in_queues_that_are_busy_but_stationary) {
  // Measured over 1000 runs: at most 1.7 %, for M/D/1 with 30 frames.
  for (const int frames : {30, 100, 400, 2000}) {
    EXPECT_LE(found_in(0.8, false, frames, 400), 3) << frames;
    EXPECT_LE(found_in(0.8, true, frames, 400), 3) << frames;
  }
  EXPECT_LE(found_in(0.95, false, 400, 400), 3);
  EXPECT_LE(found_in(0.95, true, 400, 400), 3);
}

TEST(overload, is_not_found_in_bursts_that_the_pipeline_completes) {
  for (const std::int64_t burst : {4, 10, 30}) {
    for (const double load : {0.3, 0.8, 0.97}) {
      for (const int frames : {45, 100, 400, 401, 437}) {
        simulated_queue queue{.mean_service = 5 * ms, .burst = burst};
        EXPECT_FALSE(overload_of(queue.run(load * 200, frames, 1)))
            << burst << ' ' << load << ' ' << frames;
        EXPECT_EQ(overload_of(queue.run(2 * 200, 10 * frames, 1)).has_value(), true)
            << burst << ' ' << frames;
      }
    }
    int found = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      simulated_queue queue{.arrival = arrival::poisson, .mean_service = 5 * ms, .burst = burst};
      found += overload_of(queue.run(0.5 * 200, 400, seed)).has_value();
    }
    EXPECT_LE(found, 6) << burst;
  }
}

TEST(overload, is_found_in_queues_with_random_arrivals) {
  EXPECT_GE(found_in(1.25, false, 400, 400), 92);
  EXPECT_GE(found_in(1.25, true, 2000, 200), 95);
}

TEST(overload, is_not_found_after_a_stall) {
  for (const std::size_t at : {30U, 120U, 180U, 250U}) {
    run_record record;
    record.run.arrival = arrival::constant;
    record.run.rate = 100;
    double free = 0;
    for (std::size_t i = 0; i < 300; ++i) {
      const double due = 10 * ms * static_cast<double>(i);
      const double begin = std::max(due, free);
      free = begin + (i == at ? 300 : 9) * ms;  // ten frames of 9 ms make up for 10 ms
      record.frames.push_back({std::llround(due), std::llround(begin), std::llround(free)});
    }
    EXPECT_FALSE(overload_of(record)) << at;
  }
}

TEST(overload, with_drops_bounds_latency) {
  for (const auto full : {queue_policy::drop_oldest, queue_policy::drop_newest}) {
    const auto record = bounded_queue(500, 2, full, arrival::constant, 900);
    const auto found = overload_of(record);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->offered, 500, 0.5);
    EXPECT_NEAR(found->completed, 200, 0.5);
    EXPECT_FALSE(found->growth);
    EXPECT_NEAR(static_cast<double>(found->dropped), 900 * 0.6, 5);
    // At most two frames wait, for 5 ms each: representative of the system.
    const auto summary = summarize(record);
    EXPECT_LE(summary.end_to_end->max(), 15 * ms);
    EXPECT_TRUE(summary.end_to_end->percentile(0.5));
  }
}

TEST(overload, with_a_queue_that_fills_up_late_bounds_nothing) {
  const auto record = bounded_queue(220, 60, queue_policy::drop_newest, arrival::constant, 900);
  ASSERT_FALSE(record.load.dropped.empty());
  EXPECT_TRUE(overload_of(record).value().growth);
}

TEST(overload, is_not_found_if_a_short_queue_drops_frames_of_a_sustainable_load) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto record =
        bounded_queue(160, 1, queue_policy::drop_oldest, arrival::poisson, 400, seed);
    EXPECT_FALSE(record.load.dropped.empty());
    found += overload_of(record).has_value();
  }
  EXPECT_LE(found, 4);
}

TEST(overload, counts_all_slots_that_frames_have) {
  // Two concurrent frames of 10 ms: one per 5 ms.
  for (const double rate : {190.0, 220.0}) {
    run_record record;
    record.run.arrival = arrival::constant;
    record.run.rate = rate;
    record.run.in_flight = 2;
    double free[2] = {0, 0};
    for (int i = 0; i < 400; ++i) {
      const double due = i * 1e9 / rate;
      auto& slot = free[i % 2];
      const double begin = std::max(due, slot);
      slot = begin + 10 * ms;
      record.frames.push_back({std::llround(due), std::llround(begin), std::llround(slot)});
    }
    EXPECT_EQ(overload_of(record).has_value(), rate > 200) << rate;
  }
}

TEST(overload, comes_before_missed_deadlines) {
  auto record = constant_load(220, 400);
  record.run.deadline = 100'000'000;  // met by frames 0 to 209, which wait for up to 95 ms
  const auto& said = summarize(record).findings;
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1], finding({"deadline_missed", finding_severity::failure})
                         .with("deadline", quantity{100e6, unit::duration})
                         .with("missed", 190)
                         .with("frames", 400));
  record.run.deadline = 1'000'000'000;
  EXPECT_EQ(summarize(record).findings.size(), 1U);
}

TEST(overload, counts_dropped_frames_as_missed_deadlines) {
  auto record = bounded_queue(500, 2, queue_policy::drop_newest, arrival::constant, 900);
  record.run.deadline = 1'000'000'000;
  const auto dropped = record.load.dropped.size();
  EXPECT_EQ(summarize(record).findings.back(),
            finding({"deadline_missed", finding_severity::failure})
                .with("deadline", quantity{1e9, unit::duration})
                .with("missed", dropped)
                .with("frames", 900)
                .with("dropped", dropped));
}

}  // namespace
}  // namespace graphline
