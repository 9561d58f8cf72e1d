#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/plan/policies/policies.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "tests/run/random_pipeline.hpp"

// On threads of this machine, for the thread sanitizer. GRAPHLINE_SEEDS sets the number of seeds.

namespace graphline {
namespace {

using namespace testing_kinds;

constexpr std::int64_t frames = 12;
constexpr std::int64_t warmup = 2;

std::uint64_t seeds() {
  const char* const given = std::getenv("GRAPHLINE_SEEDS");
  return given != nullptr ? std::stoull(given) : 12;
}

/// Random ranks, often equal, and random times for which stages are held back.
class drawn_policy final : public scheduling_policy {
 public:
  explicit drawn_policy(std::uint64_t seed) : seed_(seed) {}
  policy_rank rank(const ready_job& job) const override {
    return {static_cast<std::int64_t>(draw(job) % 5)};
  }
  nanoseconds hold_until(const ready_job& job, nanoseconds now) const override {
    const std::uint64_t drawn = draw(job);
    return drawn % 4 == 0 ? job.due + static_cast<nanoseconds>(drawn % 300'000) : now;
  }

 private:
  std::uint64_t draw(const ready_job& job) const {
    const std::uint64_t stage = seed_from(job.stage.pipeline) + job.stage.position;
    return mix_seed(mix_seed(seed_, stage), static_cast<std::uint64_t>(job.frame));
  }
  std::uint64_t seed_;
};

/// Pipelines with the same random policy, and with random settings, some of them equal.
class drawn_pipelines {
 public:
  drawn_pipelines(std::uint64_t seed, std::size_t count, bool shared) : generator_(seed) {
    kind_.holds = generator_() % 2 == 0;
    kind_.make = [seed](const arguments&, std::span<const policy_stage>, std::uint64_t) {
      return std::make_unique<drawn_policy>(seed);
    };
    const auto& builtin = builtin_policies();
    const std::size_t policy = generator_() % (2 * builtin.size());
    const auto window = static_cast<std::int64_t>(shared ? 1 + generator_() % 2 : generator_() % 3);
    stop_at_ = generator_() % 3 == 0 ? static_cast<std::int64_t>(generator_() % frames) : -1;
    registry_ = make_registry([this](const std::string&, std::int64_t frame) {
      if (frame == stop_at_) stop.raise();
    });
    for (std::size_t i = 0; i < count; ++i) {
      random_pipeline& made = pipelines.emplace_back(make_random(generator_, frames + warmup - 1));
      made.spec.name = {"p" + std::to_string(i)};
      if (policy < builtin.size()) made.spec.run.policy = builtin[policy].name;
      made.spec.run.window = window;
      set(made.spec.run);
      plans.push_back(plan_for_host(made.spec, registry_));
      if (policy >= builtin.size()) plans.back().policy = {&kind_, {}};
    }
  }

  bool stops() const { return stop_at_ >= 0; }

  /// @param where For messages.
  void expect_whole(const std::vector<run_record>& records, const std::string& where) const {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const run_record& record = records[i];
      ASSERT_FALSE(record.failure) << *record.failure;
      ASSERT_EQ(std::ssize(record.frames), frames) << where;
      expect_outputs(record, pipelines[i], where);
      expect_order(record, plans[i], where);
    }
  }

  /// Of the frames that are complete.
  void expect_stopped(const std::vector<run_record>& records, const std::string& where) const {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      EXPECT_LE(std::ssize(records[i].frames), frames) << where;
      ASSERT_FALSE(records[i].failure) << *records[i].failure;
      expect_order(records[i], plans[i], where);
    }
  }

  std::unique_ptr<device> on = open_host_device(1);
  stop_request stop;
  std::deque<random_pipeline> pipelines;
  std::vector<plan> plans;

 private:
  void set(settings& run) {
    run.strategy = strategy::overlap;
    run.frames = frames;
    run.warmup = warmup;
    run.timing = timing_method::event;
    run.deadline = 1'000'000;
    run.in_flight = 1 + static_cast<std::int64_t>(generator_() % 4);
    run.workers = 1 + static_cast<std::int64_t>(generator_() % 4);
    run.graphs = generator_() % 2 == 0 ? graph_mode::off : graph_mode::stage;
    run.wait = static_cast<wait_mode>(generator_() % 3);
    run.streams = streams_in(static_cast<int>(generator_() % 6));
    if (generator_() % 3 > 0) return;
    run.arrival = arrival::constant;
    run.rate = 5'000;
  }

  /// Each stage begins when those before it have ended, and runs within its frame.
  static void expect_order(const run_record& record, const plan& p, const std::string& where) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, where);
    expect_stages_within_frames(record);
    const auto column = [&](std::size_t stage) -> const auto& {
      const stage_record& of = record.stages[stage];
      return of.on == side::cpu ? of.cpu : of.device;
    };
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      for (const std::size_t f : p.stages[s].followers) {
        for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
          EXPECT_LE(column(s)[frame].end, column(f)[frame].begin)
              << where << ", frame " << frame << ": " << p.stages[s].name << " before "
              << p.stages[f].name;
        }
      }
    }
  }

  std::mt19937 generator_;
  std::int64_t stop_at_ = -1;
  policy_kind kind_{.name = "drawn"};
  stage_registry registry_;  // the plans point to its kinds
};

TEST(any_policy, keeps_the_order_of_stages_and_their_results_and_can_be_stopped) {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const std::string where = "seed " + std::to_string(seed);
    drawn_pipelines drawn(seed, 1, false);
    session s(drawn.plans[0], *drawn.on);
    if (drawn.stops()) {
      drawn.expect_stopped({s.run({.stop = &drawn.stop})}, where);
    }
    drawn.expect_whole({s.run()}, where);
    if (HasFailure()) return;
  }
}

TEST(any_policy, schedules_pipelines_that_share_workers_and_the_device) {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const auto share = static_cast<sharing>(1 + seed % 3);
    const std::string where = "seed " + std::to_string(seed);
    drawn_pipelines drawn(seed, 2 + seed % 2, true);
    const pipeline_sharing parts(share, drawn.plans, *drawn.on);
    std::deque<session> sessions;
    std::vector<concurrent_run> runs;
    for (std::size_t i = 0; i < drawn.plans.size(); ++i) {
      session& s = sessions.emplace_back(drawn.plans[i], *drawn.on, nullptr, &parts.of(i));
      runs.push_back({.name = drawn.plans[i].pipeline, .session = &s, .foreground = true});
    }
    if (drawn.stops()) {
      drawn.expect_stopped(run_at_once(runs, &drawn.stop, share), where);
    }
    drawn.expect_whole(run_at_once(runs, nullptr, share), where);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace graphline
