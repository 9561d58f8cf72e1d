#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/lower_bound.hpp"
#include "tests/analysis/made_run.hpp"
#include "tests/analysis/simulated_run.hpp"

namespace graphline {
namespace {

using samples::path_of;
using samples::simulate;
using samples::simulated_run;
using samples::sum_of;
using samples::with_unsure_clock;

constexpr std::uint64_t seeds = 600;

std::string described(const run_record& record, std::uint64_t seed, std::size_t frame) {
  return "seed " + std::to_string(seed) + ", " + std::string(to_word(record.run.strategy)) +
         ", graphs " + std::string(to_word(record.run.graphs)) + ", " +
         std::string(to_word(record.run.timing)) + ", " + record.device.backend + ", " +
         std::to_string(record.run.in_flight) + " in flight, frame " + std::to_string(frame) +
         ": " + path_of(record, frame);
}

TEST(attribution_of_random_runs, finds_what_the_time_was_made_from) {
  std::set<time_category> seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto made = simulate(seed);
    const attributor paths(made.record);
    for (std::size_t f = 0; f < made.record.frames.size(); ++f) {
      const auto path = paths.of(f);
      simulated_run::by_kind found{};
      for (const auto& piece : path.pieces) {
        found[static_cast<std::size_t>(piece.what)] += piece.length();
        seen.insert(piece.what);
      }
      for (const auto& [word, what] : time_category_words) {
        const auto kind = static_cast<std::size_t>(what);
        ASSERT_EQ(found[kind], made.truth[f][kind])
            << word << ", " << described(made.record, seed, f);
      }
    }
  }
  // All that a run can show whose stages are timed.
  EXPECT_EQ(seen.size(), std::size(time_category_words) - 1);
  EXPECT_FALSE(seen.contains(time_category::untimed));
}

TEST(attribution_of_random_runs, goes_from_due_to_end_without_a_gap) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto record = simulate(seed).record;
    const attributor paths(record);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto path = paths.of(f);
      nanoseconds at = record.frames[f].due;
      for (const auto& piece : path.pieces) {
        ASSERT_EQ(piece.begin, at) << described(record, seed, f);
        ASSERT_GT(piece.length(), 0) << described(record, seed, f);
        at = piece.end;
      }
      ASSERT_EQ(at, record.frames[f].end) << described(record, seed, f);
      ASSERT_EQ(path.residual, 0);
    }
  }
}

TEST(attribution_of_random_runs, has_a_residual_within_the_error_of_the_clocks) {
  nanoseconds largest = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const nanoseconds error = 1 + static_cast<nanoseconds>(seed * 7 % 3'000);
    const auto record = with_unsure_clock(simulate(seed).record, error, seed);
    const attributor paths(record);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto path = paths.of(f);
      const auto by_device =
          std::count_if(path.pieces.begin(), path.pieces.end(), [](const path_piece& piece) {
            return piece.what == time_category::device || piece.what == time_category::copy;
          });
      ASSERT_EQ(sum_of(path), record.frames[f].end - record.frames[f].due);
      ASSERT_LE(path.residual, 0) << described(record, seed, f);
      ASSERT_GE(path.residual, -2 * error * by_device) << described(record, seed, f);
      for (const auto& piece : path.pieces) ASSERT_GT(piece.length(), 0);
      largest = std::max(largest, -path.residual);
    }
  }
  EXPECT_GT(largest, 0);
}

TEST(attribution_of_random_runs, is_never_below_its_lower_bounds) {
  std::size_t schedule_costs = 0;
  std::set<limited_by> seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto record = simulate(seed).record;
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto any = lower_bound_of(record, f, schedules::any);
      const auto here = lower_bound_of(record, f, schedules::this_one);
      const auto frame = record.frames[f].end - record.frames[f].begin;
      ASSERT_LE(any.time, here.time) << described(record, seed, f);
      ASSERT_LE(here.time, frame) << described(record, seed, f);
      ASSERT_GT(any.time, 0);
      ASSERT_FALSE(here.stages.empty());
      schedule_costs += here.time > any.time ? 1U : 0U;
      seen.insert(here.by);
    }
  }
  EXPECT_GT(schedule_costs, 0U);
  EXPECT_EQ(seen.size(), std::size(limited_by_words));
}

TEST(attribution_of_random_runs, adds_up_in_every_column_of_the_summary) {
  for (std::uint64_t seed = 1; seed <= seeds; seed += 5) {
    const auto record = with_unsure_clock(simulate(seed).record, 50, seed);
    const auto summary = attribute(record);
    ASSERT_TRUE(summary);
    attribution_summary::per_group sum = summary->residual;
    for (const auto& row : summary->rows) {
      sum.all += row.all;
      sum.typical += row.typical;
      sum.slowest += row.slowest;
    }
    ASSERT_NEAR(sum.all, summary->end_to_end.all, 1e-3);
    ASSERT_NEAR(sum.typical, summary->end_to_end.typical, 1e-3);
    ASSERT_NEAR(sum.slowest, summary->end_to_end.slowest, 1e-3);
  }
}

/// Stamps as a damaged file may hold them.
run_record damaged(run_record record, std::mt19937_64& generator) {
  const auto any = [&](nanoseconds was) -> nanoseconds {
    switch (generator() % 8) {
      case 0:
        return 0;
      case 1:
        return -was;
      case 2:
        return was + static_cast<nanoseconds>(generator() % 1'000'000) - 500'000;
      case 3:
        return static_cast<nanoseconds>(generator() >> 4) - (nanoseconds{1} << 59);
      default:
        return was;
    }
  };
  for (auto& stage : record.stages) {
    for (auto* column : {&stage.enqueued, &stage.device, &stage.synced, &stage.cpu}) {
      for (auto& stamps : *column) stamps = {any(stamps.begin), any(stamps.end)};
      if (generator() % 10 == 0) column->resize(column->size() / 2);
    }
    for (auto& time : stage.busy) time = any(time);
    for (auto& thread : stage.threads) {
      if (generator() % 10 == 0) thread = static_cast<std::uint32_t>(generator());
    }
    for (auto& wait : stage.waits) {
      if (generator() % 10 == 0) wait.stage = generator() % 20;
    }
  }
  for (auto& launch : record.launches) launch = {any(launch.begin), any(launch.end)};
  for (auto& frame : record.frames) {
    frame = {any(frame.due), any(frame.begin), any(frame.end)};
  }
  record.clock_error = any(record.clock_error);
  return record;
}

TEST(attribution_of_random_runs, adds_up_even_for_stamps_that_make_no_sense) {
  std::mt19937_64 generator(5);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto record = damaged(with_unsure_clock(simulate(seed).record, 300, seed), generator);
    const attributor paths(record);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto path = paths.of(f);
      ASSERT_EQ(sum_of(path), record.frames[f].end - record.frames[f].due);
      ASSERT_LE(path.residual, 0);
      for (const auto& piece : path.pieces) ASSERT_GE(piece.length(), 0);
      ASSERT_GE(lower_bound_of(record, f, schedules::this_one).time, 0);
      ASSERT_GE(lower_bound_of(record, f, schedules::any).time, 0);
    }
  }
}

TEST(attribution, takes_stamps_from_the_ends_of_time) {
  constexpr auto first = std::numeric_limits<nanoseconds>::min();
  constexpr auto last = std::numeric_limits<nanoseconds>::max();
  auto record = simulate(3).record;
  record.clock_error = last;
  for (auto& stage : record.stages) {
    for (auto* column : {&stage.enqueued, &stage.device, &stage.synced, &stage.cpu}) {
      for (auto& stamps : *column) stamps = {first, last};
    }
  }
  for (auto& frame : record.frames) frame = {first, first, last};
  for (const auto& piece : attributor(record).of(1).pieces) EXPECT_GT(piece.length(), 0);
}

}  // namespace
}  // namespace graphline
