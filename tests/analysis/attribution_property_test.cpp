#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/lower_bound.hpp"
#include "tests/analysis/made_run.hpp"
#include "tests/analysis/virtual_records.hpp"

namespace graphline {
namespace {

using samples::draw_execution;
using samples::drawn_execution;
using samples::path_of;
using samples::sum_of;
using samples::virtual_record;
using samples::with_unsure_clock;
using testing_plans::overheads;

constexpr std::uint64_t seeds = 600;

std::string described(const run_record& record, std::uint64_t seed, std::size_t frame) {
  return "seed " + std::to_string(seed) + ", " + std::string(to_word(record.run.strategy)) +
         ", graphs " + std::string(to_word(record.run.graphs)) + ", " +
         std::string(to_word(record.run.timing)) + ", " + record.device.backend + ", " +
         std::to_string(record.run.in_flight) + " in flight, frame " + std::to_string(frame) +
         ": " + path_of(record, frame);
}

/// Time of a frame by `time_category`.
using by_category = std::array<nanoseconds, std::size(time_category_words)>;

by_category sum_by_category(const frame_attribution& path) {
  by_category sum{};
  for (const auto& piece : path.pieces) sum[static_cast<std::size_t>(piece.what)] += piece.length();
  return sum;
}

/// By how much each frame (begin to end) grows if a time grows by 1 ns: how often that time is on
/// the critical path.
std::vector<nanoseconds> times_on_path(const run_record& base, const drawn_execution& longer) {
  const auto record = virtual_record(longer);
  std::vector<nanoseconds> times;
  for (std::size_t f = 0; f < base.frames.size(); ++f) {
    times.push_back((record.frames[f].end - record.frames[f].begin) -
                    (base.frames[f].end - base.frames[f].begin));
  }
  return times;
}

std::vector<nanoseconds> times_on_path(const run_record& base, drawn_execution of,
                                       nanoseconds overheads::*what) {
  of.of.*what += 1;
  return times_on_path(base, of);
}

/// Varies a stage's time in frame `only`, or in all frames.
std::vector<nanoseconds> times_on_path(const run_record& base, drawn_execution of,
                                       std::size_t stage, std::optional<std::size_t> only = {}) {
  for (std::size_t f = 0; f < of.run.times.size(); ++f) {
    if (!only || f == *only) of.run.times[f][stage] += 1;
  }
  return times_on_path(base, of);
}

/// With one frame in flight, only its own stages and the overheads delay a frame.
TEST(attribution_of_random_runs, finds_each_time_as_often_as_it_lengthens_the_frame) {
  std::size_t frames = 0;
  std::size_t unclear = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const auto& [how, graphs] : {std::pair(strategy::serial, graph_mode::stage),
                                      {strategy::async, graph_mode::stage},
                                      {strategy::overlap, graph_mode::stage},
                                      {strategy::overlap, graph_mode::frame}}) {
      const auto execution = draw_execution(seed, how, 1, graphs);
      const overheads& of = execution.of;
      const auto record = virtual_record(execution);
      const auto issues = times_on_path(record, execution, &overheads::issue);
      const auto wake_ups = times_on_path(record, execution, &overheads::wake_up);
      const auto delays = times_on_path(record, execution, &overheads::completion_delay);
      std::vector<std::vector<nanoseconds>> stages;
      for (std::size_t s = 0; s < record.stages.size(); ++s) {
        stages.push_back(times_on_path(record, execution, s));
      }
      const attributor paths(record);
      for (std::size_t f = 0; f < record.frames.size(); ++f) {
        const auto path = paths.of(f);
        // A launch can delay other launches on its stream and the observation of a completion by
        // the same thread; a worker may take a stage other than the one it was woken for. Such
        // waits are longer but have the same category, so skip these frames.
        const auto longer = std::ranges::any_of(path.pieces, [&](const path_piece& piece) {
          return (piece.what == time_category::launch && piece.length() != of.issue) ||
                 (piece.what == time_category::worker_wait && piece.length() != of.wake_up) ||
                 (piece.what == time_category::completion_delay &&
                  piece.length() != of.completion_delay);
        });
        ++frames;
        unclear += longer ? 1 : 0;
        if (longer) continue;
        by_category truth{};
        const auto add = [&truth](time_category what, nanoseconds time) {
          truth[static_cast<std::size_t>(what)] += time;
        };
        add(time_category::launch, issues[f] * of.issue);
        add(time_category::worker_wait, wake_ups[f] * of.wake_up);
        add(time_category::completion_delay, delays[f] * of.completion_delay);
        for (std::size_t s = 0; s < stages.size(); ++s) {
          const auto& stage = record.stages[s];
          const auto what = stage.on == side::cpu ? time_category::cpu
                            : stage.copy          ? time_category::copy
                                                  : time_category::device;
          add(what, stages[s][f] * execution.run.times[f][s]);
        }
        const auto found = sum_by_category(path);
        for (const auto& [word, what] : time_category_words) {
          const auto kind = static_cast<std::size_t>(what);
          ASSERT_EQ(found[kind], truth[kind]) << word << ", " << described(record, seed, f);
        }
      }
    }
  }
  EXPECT_LT(unclear, frames / 50) << "of " << frames;
}

/// With several frames in flight, other frames cause delays. Since the last such wait, and in the
/// previous frame if that is the wait, each stage on the path delays the frame by its own growth.
TEST(attribution_of_random_runs, finds_what_delays_a_frame_with_several_in_flight) {
  std::size_t own = 0;
  std::size_t previous = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto how = seed % 3 == 0 ? strategy::async : strategy::overlap;
    const auto execution = draw_execution(seed, how, 2 + seed % 2);
    const auto record = virtual_record(execution);
    const attributor paths(record);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto path = paths.of(f);
      for (auto piece = path.pieces.rbegin(); piece != path.pieces.rend(); ++piece) {
        const bool is_work = piece->what == time_category::cpu ||
                             piece->what == time_category::device ||
                             piece->what == time_category::copy;
        if (is_work) {
          ASSERT_EQ(times_on_path(record, execution, *piece->stage, f)[f], 1)
              << record.stages[*piece->stage].name << ", " << described(record, seed, f);
          ++own;
        } else if (piece->what == time_category::previous_frame_wait) {
          const auto& stage = record.stages[*piece->stage];
          // A device stage waits for its previous launch, not for its previous execution.
          if (stage.on == side::cpu) {
            ASSERT_EQ(times_on_path(record, execution, *piece->stage, f - 1)[f], 1)
                << stage.name << ", " << described(record, seed, f);
            ++previous;
          }
          break;
        } else if (piece->what == time_category::stream_wait ||
                   (piece->what == time_category::worker_wait &&
                    piece->length() != execution.of.wake_up) ||
                   (piece->what == time_category::launch &&
                    piece->length() != execution.of.issue) ||
                   (piece->what == time_category::completion_delay &&
                    piece->length() != execution.of.completion_delay)) {
          break;
        }
      }
    }
  }
  EXPECT_GT(own, 500U);
  EXPECT_GT(previous, 20U);
}

TEST(attribution_of_random_runs, goes_from_due_to_end_without_a_gap) {
  std::set<time_category> categories;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto record = virtual_record(draw_execution(seed));
    const attributor paths(record);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto path = paths.of(f);
      nanoseconds at = record.frames[f].due;
      for (const auto& piece : path.pieces) {
        ASSERT_EQ(piece.begin, at) << described(record, seed, f);
        ASSERT_GT(piece.length(), 0) << described(record, seed, f);
        at = piece.end;
        categories.insert(piece.what);
      }
      ASSERT_EQ(at, record.frames[f].end) << described(record, seed, f);
      ASSERT_EQ(path.residual, 0);
    }
  }
  EXPECT_EQ(categories.size(), std::size(time_category_words) - 3);
  EXPECT_FALSE(categories.contains(time_category::batch_wait));
  EXPECT_FALSE(categories.contains(time_category::other_rank_wait));  // there is one rank
  EXPECT_FALSE(categories.contains(time_category::untimed));          // every stage is timed
}

TEST(attribution_of_random_runs, has_a_residual_within_the_clock_error) {
  nanoseconds largest = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const nanoseconds error = 1 + static_cast<nanoseconds>(seed * 7 % 3'000);
    const auto record = with_unsure_clock(virtual_record(draw_execution(seed)), error, seed);
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
    const auto record = virtual_record(draw_execution(seed));
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto any = lower_bounds(record).of(f, schedules::any);
      const auto here = lower_bounds(record).of(f, schedules::this_one);
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
    const auto record = with_unsure_clock(virtual_record(draw_execution(seed)), 50, seed);
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

/// Returns the record with stamps as in a damaged file.
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
    if (generator() % 4 == 0) {
      for (std::size_t f = 0; f < record.frames.size(); ++f) {
        stage.rows.push_back(static_cast<std::int32_t>(generator() % 4) - 1);
      }
    }
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

TEST(attribution_of_random_runs, adds_up_for_damaged_stamps) {
  std::mt19937_64 generator(5);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto record =
        damaged(with_unsure_clock(virtual_record(draw_execution(seed)), 300, seed), generator);
    const attributor paths(record);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const auto path = paths.of(f);
      ASSERT_EQ(sum_of(path), record.frames[f].end - record.frames[f].due);
      ASSERT_LE(path.residual, 0);
      for (const auto& piece : path.pieces) ASSERT_GE(piece.length(), 0);
      ASSERT_GE(lower_bounds(record).of(f, schedules::this_one).time, 0);
      ASSERT_GE(lower_bounds(record).of(f, schedules::any).time, 0);
    }
  }
}

TEST(attribution, accepts_the_smallest_and_largest_stamps) {
  constexpr auto first = std::numeric_limits<nanoseconds>::min();
  constexpr auto last = std::numeric_limits<nanoseconds>::max();
  auto record = virtual_record(draw_execution(3));
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
