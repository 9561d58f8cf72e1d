// Pipelines whose stages run on several ranks, which are threads here: they compute what one
// process computes, under every schedule.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/campaign/ranks/link_stages.hpp"
#include "framework/plan/planner.hpp"
#include "framework/plan/rank_parts.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/ranks/thread_messages.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using samples::mail;
using samples::thread_messages;
using namespace testing_kinds;
using namespace std::chrono_literals;

using outputs = std::map<std::string, std::string>;  ///< checksums by tensor

void add_outputs(outputs& to, const run_record& record) {
  for (const auto& output : record.outputs) to[output.tensor] = output.checksum;
}

/// Runs the pipeline in one process.
outputs alone(pipeline_spec spec) {
  for (stage_spec& stage : spec.stages) stage.rank = 0;
  const stage_registry registry = make_registry();
  diagnostics out;
  plan p = make_plan(spec, registry, {}, out);
  out.throw_if_errors();
  const auto device = open_host_device(1);
  const run_record record = session(std::move(p), *device).run({});
  outputs made;
  add_outputs(made, record);
  return made;
}

struct ranks_run {
  std::vector<run_record> records;
  outputs made;
};

/// Runs it on ranks.
/// @param without_stop Rank that does not see the stop.
ranks_run together(const pipeline_spec& spec, std::size_t ranks, const hook& h = {},
                   stop_request* stop = nullptr, int without_stop = -1) {
  mail post(ranks);
  stop_request never;
  ranks_run result;
  result.records.resize(ranks);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const int rank = static_cast<int>(r);
      thread_messages messages(post, rank);
      stage_registry registry = make_registry(h);
      diagnostics out;
      const plan whole = make_plan(spec, registry, {}, out);
      out.throw_if_errors();
      const auto& transfers = whole.transfers;
      tensor_links links(messages, links_of_rank(transfers, rank),
                         static_cast<std::size_t>(spec.run.in_flight) + 1, spec.run.wait,
                         stop != nullptr && rank != without_stop ? *stop : never);
      add_link_kinds(registry, transfers, rank, links);
      plan part = make_plan(part_of_rank(spec, whole, rank), registry, {}, out);
      out.throw_if_errors();
      const auto device = open_host_device(1);
      run_options options;
      if (rank != without_stop) options.stop = stop;
      result.records[r] = session(std::move(part), *device).run(options);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& record : result.records) add_outputs(result.made, record);
  return result;
}

stage_spec on_rank(stage_spec stage, int rank) {
  stage.rank = rank;
  return stage;
}

/// "a" on rank 0, "b" on rank 1, "c" on rank 0 again.
pipeline_spec there_and_back(std::int64_t frames) {
  return pipeline_of(
      {make_stage("a", "cpu_mix", {}, 1), on_rank(make_stage("b", "device_mix", {"a"}, 2), 1),
       make_stage("c", "cpu_mix", {"b", "a"}, 3)},
      frames, 1);
}

TEST(parts_run, of_a_pipeline_there_and_back_compute_what_one_process_does) {
  for (const way& how : every_way({1, 3})) {
    if (how.graphs == graph_mode::frame) continue;  // refused
    auto spec = there_and_back(20);
    how.set(spec.run);
    const auto found = together(spec, 2);
    EXPECT_EQ(found.made, alone(spec)) << name_of(how);
    for (const auto& record : found.records) {
      EXPECT_EQ(record.frames.size(), 20U) << name_of(how);
      EXPECT_FALSE(record.failure) << *record.failure;
    }
  }
}

/// Random graphs, also with every rank depending on every other, and one worker.
TEST(parts_run, of_random_pipelines_compute_what_one_process_does) {
  const char* const seeds = std::getenv("GRAPHLINE_SEEDS");
  const int count = seeds == nullptr ? 40 : std::atoi(seeds);
  for (int seed = 0; seed < count; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const int ranks = 2 + static_cast<int>(random() % 2);
    std::vector<stage_spec> stages;
    const int size = ranks + 2 + static_cast<int>(random() % 6);
    for (int i = 0; i < size; ++i) {
      std::vector<std::string> reads;
      for (int r = 0; r < 2 && i > 0; ++r) {
        const auto name = fmt::format("s{}", random() % static_cast<unsigned>(i));
        if (std::ranges::find(reads, name) == reads.end()) reads.push_back(name);
      }
      auto stage = make_stage(fmt::format("s{}", i), random() % 3 == 0 ? "device_mix" : "cpu_mix",
                              reads, i + 1);
      stage.rank = i < ranks ? i : static_cast<int>(random() % static_cast<unsigned>(ranks));
      if (i > 2 && random() % 4 == 0) {
        stage.after = {{fmt::format("s{}", random() % static_cast<unsigned>(i))}};
      }
      stages.push_back(std::move(stage));
    }
    auto spec = pipeline_of(std::move(stages), 15, 2);
    constexpr strategy strategies[] = {strategy::serial, strategy::async, strategy::overlap};
    spec.run.strategy = strategies[random() % 3];
    const bool one = spec.run.strategy == strategy::serial;
    spec.run.in_flight = one ? 1 : 1 + static_cast<std::int64_t>(random() % 3);
    spec.run.workers = spec.run.strategy == strategy::overlap ? 1 : 0;
    const auto found = together(spec, static_cast<std::size_t>(ranks));
    EXPECT_EQ(found.made, alone(spec)) << "seed " << seed;
    for (const auto& record : found.records) {
      EXPECT_EQ(record.frames.size(), 15U) << "seed " << seed;
      EXPECT_FALSE(record.failure) << "seed " << seed << ": " << *record.failure;
    }
  }
}

/// Returns the mean time per frame of a category, in ms.
double time_of(const run_record& record, time_category what) {
  const attributor of(record);
  double sum = 0;
  for (std::size_t f = 0; f < record.frames.size(); ++f) {
    for (const path_piece& piece : of.of(f).pieces) {
      if (piece.what == what) sum += static_cast<double>(piece.length());
    }
  }
  return 1e-6 * sum / static_cast<double>(record.frames.size());
}

TEST(parts_run, attribute_the_wait_for_another_rank) {
  for (const auto how : {strategy::serial, strategy::async, strategy::overlap}) {
    auto spec = there_and_back(10);
    spec.run.strategy = how;
    spec.stages[1].kind.text = "cpu_mix";
    const auto found = together(spec, 2, [](const std::string& stage, std::int64_t) {
      if (stage == "a") std::this_thread::sleep_for(10ms);
      if (stage == "b") std::this_thread::sleep_for(5ms);
    });
    // "a" takes 10 ms here, then "b" 5 ms there.
    const double wait = time_of(found.records[0], time_category::other_rank_wait);
    EXPECT_GE(wait, 4.8) << to_word(how);
    EXPECT_LE(wait, 9) << to_word(how);
    EXPECT_GE(time_of(found.records[0], time_category::cpu), 9.8) << to_word(how);
  }
}

// A stage of rank 1 fails, for whose result rank 0 waits, and then rank 1 for that of rank 0.
TEST(parts_run, end_when_a_stage_fails_for_which_all_wait) {
  for (const auto how : {strategy::serial, strategy::overlap}) {
    auto spec = pipeline_of(
        {on_rank(make_stage("a", "cpu_mix", {}, 1), 1), make_stage("b", "cpu_mix", {"a"}, 2),
         on_rank(make_stage("c", "cpu_mix", {"b"}, 3), 1)},
        1000, 1);
    spec.run.strategy = how;
    stop_request stop;  // as the job raises it once a rank has failed
    std::jthread job;
    const auto found = together(
        spec, 2,
        [&](const std::string& stage, std::int64_t frame) {
          if (stage != "a" || frame != 7) return;
          job = std::jthread([&] {
            std::this_thread::sleep_for(200ms);
            stop.raise();
          });
          throw std::runtime_error("broken");
        },
        &stop, 1);
    EXPECT_THAT(found.records[1].failure.value_or(""), testing::HasSubstr("broken"));
    EXPECT_TRUE(found.records[0].interrupted);
    EXPECT_FALSE(found.records[0].failure);
  }
}

// The frames that a trace makes due are fewer than declared.
TEST(parts_run, have_as_many_frames_on_all_ranks_as_arrive_at_rank_0) {
  auto spec = there_and_back(20);
  spec.run.arrival = arrival::trace;
  temporary_folder folder;
  spec.run.arrival_file = folder.write("arrivals.csv", "due_ms\n0\n2\n4\n6\n");
  const auto found = together(spec, 2);
  for (const auto& record : found.records) EXPECT_EQ(record.frames.size(), 4U);
}

// Rank 0 begins a frame every 20 ms, and sees the end of each before the next one's data arrive.
TEST(parts_run, end_frames_while_the_thread_waits_for_another_rank) {
  auto spec = pipeline_of(
      {make_stage("a", "cpu_mix", {}, 1), on_rank(make_stage("b", "device_mix", {"a"}, 2), 1)}, 10,
      1);
  spec.run.strategy = strategy::async;
  spec.run.in_flight = 2;
  spec.run.arrival = arrival::constant;
  spec.run.rate = 50;
  const auto found = together(spec, 2);
  const auto& last = found.records[1].frames;
  const auto& first = found.records[0].frames;
  const nanoseconds apart = *found.records[1].epoch - *found.records[0].epoch;
  std::vector<nanoseconds> took;
  for (std::size_t f = 0; f < 10; ++f) took.push_back(last[f].end + apart - first[f].due);
  std::ranges::sort(took);
  EXPECT_LE(took[4], 15'000'000);  // the other rank may begin late, and catches up
}

TEST(parts_run, end_at_a_stop_with_the_frames_that_are_complete) {
  for (const auto how : {strategy::serial, strategy::overlap}) {
    auto spec = there_and_back(1'000'000);
    spec.run.strategy = how;
    spec.run.in_flight = how == strategy::serial ? 1 : 2;
    stop_request stop;
    const auto found = together(
        spec, 2,
        [&](const std::string& stage, std::int64_t frame) {
          if (stage == "c" && frame == 50) stop.raise();
        },
        &stop);
    for (const auto& record : found.records) {
      EXPECT_TRUE(record.interrupted);
      EXPECT_FALSE(record.failure) << *record.failure;
      EXPECT_GE(record.frames.size(), 45U);
      EXPECT_LE(record.frames.size(), 60U);
    }
  }
}

}  // namespace
}  // namespace graphline
