#include "framework/run/execute/concurrent_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/host/host_device.hpp"
#include "tests/run/together_testing.hpp"

namespace graphline {
namespace {

using namespace std::chrono_literals;
using namespace testing_kinds;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// "camera", in the foreground, and "batch", which goes on as long as it does.
class concurrent_runs : public testing::TestWithParam<way> {
 protected:
  void make(hook h = {}, timing_method timing = timing_method::event) {
    registry_ = make_registry(std::move(h));
    for (const auto* name : {"camera", "batch"}) {
      auto spec = small_pipeline(name, GetParam().how, GetParam().graphs);
      spec.run.timing = timing;
      sessions_.push_back(
          std::make_unique<session>(plan_for_host(spec, registry_), *device_, nullptr));
      runs_.push_back({.name = name, .session = sessions_.back().get()});
    }
    runs_[0].foreground = true;
    runs_[1].frames = 20'000;
  }

  std::unique_ptr<device> device_ = open_host_device(1);
  stage_registry registry_;
  std::vector<std::unique_ptr<session>> sessions_;
  std::vector<concurrent_run> runs_;
};

TEST_P(concurrent_runs, go_on_at_the_same_time) {
  if (GetParam().graphs == graph_mode::frame) {
    GTEST_SKIP() << "host functions are called one at a time: none can wait for another";
  }
  tally calls;
  std::atomic<bool> met = true;
  std::atomic<bool> watching = false;
  make([&](const std::string& stage, std::int64_t frame) {
    if (!watching) return;
    calls.add(stage);
    if (frame < 4) return;
    const auto* other = stage.starts_with("camera") ? "batch in" : "camera in";
    if (stage.ends_with(" in") && frame < 9 && !calls.wait_for(other, frame - 1)) met = false;
  });
  watching = true;
  const auto records = run_at_once(runs_, nullptr);
  EXPECT_TRUE(met);
  for (const auto& r : records) {
    EXPECT_FALSE(r.failure) << *r.failure;
    EXPECT_FALSE(r.interrupted);
    EXPECT_FALSE(r.frames.empty());
  }
}

TEST_P(concurrent_runs, end_with_the_leading_one_and_compute_what_each_does_alone) {
  make();
  runs_[1].frames = 200'000;
  const auto camera_alone = checksums(sessions_[0]->run());
  const auto records = run_at_once(runs_, nullptr);
  EXPECT_THAT(records[0].frames, SizeIs(30));
  EXPECT_EQ(checksums(records[0]), camera_alone);
  EXPECT_EQ(records[0].run.frames, 30);
  EXPECT_LT(records[1].frames.size(), 200'000U);
  EXPECT_EQ(records[1].run.frames, static_cast<std::int64_t>(records[1].frames.size()));
  EXPECT_FALSE(records[1].interrupted);
  for (const auto& r : records) EXPECT_THAT(r.warnings, Each(Not(HasSubstr("failed"))));
  EXPECT_EQ(checksums(records[1]), checksums(sessions_[1]->run({.frames = records[1].run.frames})));
}

TEST_P(concurrent_runs, say_if_one_without_arrivals_ends_before_the_horizon) {
  make();
  runs_[0].frames = 2;
  runs_[1].frames = 200'000;
  const auto records = run_at_once(runs_, nullptr, sharing::none, 200'000'000);
  EXPECT_THAT(records[0].frames, SizeIs(2));
  EXPECT_THAT(records[0].warnings, Contains(HasSubstr("its limit of frames before the horizon")));
  EXPECT_GT(records[1].frames.size(), 2U);
  EXPECT_THAT(records[1].warnings, Each(Not(HasSubstr("horizon"))));
}

TEST_P(concurrent_runs, stop_where_one_fails_and_tell_of_it) {
  tally calls;
  std::atomic<bool> fails = false;
  make([&](const std::string& stage, std::int64_t) {
    if (!fails) return;
    calls.add(stage);
    // Late in its run, and long before the foreground one is done.
    if (stage == "batch in" && calls.of(stage) == 12) throw std::runtime_error("out of film");
  });
  runs_[0].frames = 200'000;
  fails = true;
  const auto records = run_at_once(runs_, nullptr);
  ASSERT_TRUE(records[1].failure);
  EXPECT_THAT(*records[1].failure, HasSubstr("stage 'batch in' (cpu_mix), frame 11: out of film"));
  EXPECT_FALSE(records[0].failure);
  EXPECT_FALSE(records[0].interrupted);
  EXPECT_LT(records[0].frames.size(), 200'000U);
  EXPECT_THAT(records[0].warnings, Contains(HasSubstr("because 'batch' failed")));
}

TEST_P(concurrent_runs, do_not_wait_for_one_that_fails_in_its_warm_up) {
  for (const std::string name : {"camera", "batch"}) {
    sessions_.clear();
    runs_.clear();
    std::atomic<bool> fails = false;
    make([&](const std::string& stage, std::int64_t) {
      if (fails && stage == name + " out") throw std::runtime_error("out of film");
    });
    fails = true;
    const auto records = run_at_once(runs_, nullptr);
    const auto failing = name == "camera" ? 0U : 1U;
    EXPECT_EQ(records[failing].failure, "stage '" + name + " out' (cpu_mix), frame 0: out of film");
    EXPECT_FALSE(records[1 - failing].failure);
    EXPECT_FALSE(records[1 - failing].interrupted);
    EXPECT_THAT(records[1 - failing].warnings,
                Contains("stopped after 0 frames, because '" + name + "' failed"));
  }
}

TEST_P(concurrent_runs, all_stop_when_a_person_says_so) {
  stop_request stop;
  tally calls;
  make([&](const std::string& stage, std::int64_t) {
    calls.add(stage);
    if (calls.of("camera in") == 20) stop.raise();
  });
  runs_[0].frames = 200'000;
  runs_[1].frames = 200'000;
  const auto records = run_at_once(runs_, &stop);
  for (const auto& r : records) {
    EXPECT_TRUE(r.interrupted);
    EXPECT_FALSE(r.failure);
    EXPECT_LT(r.frames.size(), 200'000U);
  }
}

TEST_P(concurrent_runs, say_which_frames_had_nothing_beside_them) {
  make();
  runs_[1].frames = 0;
  const auto records = run_at_once(runs_, nullptr);
  EXPECT_THAT(records[0].warnings, Contains(HasSubstr("of the frames did not overlap 'batch'")));
  EXPECT_THAT(records[1].warnings, IsEmpty());
}

TEST_P(concurrent_runs, say_that_sync_waits_for_the_others_too) {
  if (GetParam().graphs == graph_mode::frame)
    GTEST_SKIP() << "what is in a frame's graph cannot be waited for";
  make({}, timing_method::sync);
  const auto records = run_at_once(runs_, nullptr);
  for (const auto& r : records) {
    EXPECT_THAT(r.warnings, Contains(HasSubstr("waits for stages of the concurrent pipelines")));
  }
}

TEST_P(concurrent_runs, get_frames_enough_to_last_by_what_the_trial_before_took) {
  make();
  frame_allowance allowance;
  allowance.give(0, runs_);
  EXPECT_EQ(runs_[0].frames, std::nullopt);
  EXPECT_EQ(runs_[1].frames, 4096);

  std::vector<run_record> records(2);
  records[0].frames = {{0, 0, 900}, {1000, 1000, 1900}};  // 30 of them take 30,000 ns
  allowance.learn(0, runs_, records);
  allowance.give(0, runs_);
  EXPECT_EQ(runs_[1].frames, 4096) << "nothing is known of one without a frame";
  records[1].frames = {{0, 0, 90}, {100, 100, 190}, {200, 200, 290}};
  allowance.learn(0, runs_, records);
  allowance.give(0, runs_);
  EXPECT_EQ(runs_[1].frames, 3 * 300 + 16);
  EXPECT_EQ(runs_[0].frames, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(ways, concurrent_runs,
                         testing::Values(way{strategy::serial, 1, graph_mode::off},
                                         way{strategy::async, 1, graph_mode::stage},
                                         way{strategy::overlap, 1, graph_mode::stage},
                                         way{strategy::async, 1, graph_mode::frame}),
                         [](const auto& tested) { return name_of(tested.param); });

TEST(concurrent_pools, have_threads_of_their_own_for_cpu_stages) {
  // Each waits for the other within a stage: a thread that served both would hold up one of them.
  tally calls;
  std::atomic<bool> met = true;
  const auto registry = make_registry([&](const std::string& stage, std::int64_t frame) {
    calls.add(stage);
    const auto* other = stage == "first" ? "second" : "first";
    if (frame >= 4 && frame < 9 && !calls.wait_for(other, frame - 1)) met = false;
  });
  const auto dev = open_host_device(1);
  pipeline_spec spec;
  spec.run.strategy = strategy::overlap;
  spec.run.frames = 20;
  spec.run.warmup = 2;
  spec.stages = {make_stage("first", "cpu_mix", {}), make_stage("d", "device_mix", {"first"})};
  session first(plan_for_host(spec, registry), *dev);
  spec.stages = {make_stage("second", "cpu_mix", {})};
  session second(plan_for_host(spec, registry), *dev);
  const auto records = run_at_once({{.name = "first", .session = &first, .foreground = true},
                                    {.name = "second", .session = &second, .frames = 20'000}},
                                   nullptr);
  EXPECT_TRUE(met);
  EXPECT_THAT(records[0].frames, SizeIs(20));
}

TEST(concurrent_pools, that_are_shared_do_not_keep_a_run_from_ending) {
  // The worker always finds a ready stage of "second", which ends only after "first" has ended.
  const auto registry =
      make_registry([](const std::string&, std::int64_t) { std::this_thread::sleep_for(100us); });
  const auto dev = open_host_device(1);
  pipeline_spec spec;
  spec.run.strategy = strategy::overlap;
  spec.run.workers = 1;
  spec.run.frames = 20;
  spec.run.warmup = 2;
  std::vector<plan> plans;
  for (const std::string name : {"first", "second"}) {
    spec.stages = {make_stage(name + " in", "cpu_mix", {}),
                   make_stage(name + " out", "cpu_mix", {name + " in"})};
    plans.push_back(plan_for_host(spec, registry));
  }
  const pipeline_sharing shared(sharing::cpu, plans, *dev);
  session first(plans[0], *dev, nullptr, &shared.of(0));
  session second(plans[1], *dev, nullptr, &shared.of(1));
  const auto records = run_at_once({{.name = "first", .session = &first, .foreground = true},
                                    {.name = "second", .session = &second, .frames = 10'000}},
                                   nullptr);
  EXPECT_THAT(records[0].frames, SizeIs(20));
  EXPECT_LT(records[1].frames.size(), 5'000U);
}

TEST(concurrent_pools, that_are_shared_serve_each_pipeline_with_its_window) {
  const auto registry = make_registry();
  const auto dev = open_host_device(1);
  for (const sharing what : {sharing::cpu, sharing::device, sharing::both}) {
    std::vector<plan> plans;
    for (const auto* name : {"first", "second"}) {
      auto spec = small_pipeline(name, strategy::overlap, graph_mode::stage);
      spec.run.in_flight = 4;
      spec.run.workers = 1;
      spec.run.window = 1;
      spec.run.frames = 200;
      plans.push_back(plan_for_host(spec, registry));
    }
    const pipeline_sharing shared(what, plans, *dev);
    session first(plans[0], *dev, nullptr, &shared.of(0));
    session second(plans[1], *dev, nullptr, &shared.of(1));
    const auto records = run_at_once({{.name = "first", .session = &first, .foreground = true},
                                      {.name = "second", .session = &second, .foreground = true}},
                                     nullptr);
    for (const auto& record : records) {
      EXPECT_THAT(record.frames, SizeIs(200)) << to_word(what);
      EXPECT_FALSE(record.failure);
    }
  }
}

// ---- A common horizon ---------------------------------------------------------------------------

constexpr nanoseconds horizon = 250'000'000;
constexpr double per_second = 400;

/// Returns the times of a Poisson process before the horizon: sums of exponential gaps, by
/// inversion (Devroye, Non-Uniform Random Variate Generation, 1986, section II.2).
std::vector<double> poisson_times(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> times;
  for (double at = 0;;) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    at += -std::log(1 - uniform) * 1e9 / per_second;
    if (at >= static_cast<double>(horizon)) return times;
    times.push_back(at);
  }
}

/// Checks a run with random arrivals that the horizon stopped.
void expect_arrivals(const run_record& record, std::uint64_t seed) {
  const auto expected = poisson_times(mix_seed(seed, seed_from(record.pipeline)));
  std::vector<nanoseconds> due = record.load.unfinished;
  for (const frame_record& frame : record.frames) due.push_back(frame.due);
  std::ranges::sort(due);
  // On a slow machine, the load begins later than the horizon, and ends before the last arrivals.
  ASSERT_LE(due.size(), expected.size());
  EXPECT_EQ(record.run.frames, std::ssize(due));
  for (std::size_t i = 0; i < due.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(due[i] - due[0]), expected[i] - expected[0], 1.5) << i;
  }
}

/// Checks what holds for every run that a horizon stopped.
void expect_stopped_at_horizon(const run_record& record) {
  EXPECT_FALSE(record.failure) << *record.failure;
  EXPECT_FALSE(record.interrupted);
  ASSERT_FALSE(record.frames.empty());
  EXPECT_LT(record.frames.back().begin - record.frames.front().begin, horizon);
}

TEST(horizon_of_runs, covers_the_random_arrivals_before_it) {
  const auto registry = make_registry();
  const auto dev = open_host_device(1);
  auto spec = small_pipeline("camera", strategy::async, graph_mode::stage);
  spec.run.arrival = arrival::poisson;
  spec.run.rate = per_second;
  session camera(plan_for_host(spec, registry), *dev);
  session batch(
      plan_for_host(small_pipeline("batch", strategy::async, graph_mode::stage), registry), *dev);
  frame_allowance allowance;
  for (const std::uint64_t seed : {1, 2}) {
    std::vector<concurrent_run> runs = {
        {.name = "camera", .session = &camera, .foreground = true, .arrival_seed = seed},
        {.name = "batch", .session = &batch}};
    allowance.give(0, runs, horizon);
    EXPECT_EQ(runs[0].frames, std::ssize(poisson_times(mix_seed(seed, seed_from("camera")))));
    const auto records = run_at_once(runs, nullptr, sharing::none, horizon);
    for (const run_record& record : records) expect_stopped_at_horizon(record);
    expect_arrivals(records[0], seed);
  }
}

TEST(horizon_of_runs, ends_pipelines_that_share_a_worker) {
  // "camera" has random arrivals, "batch" begins its next frame at once.
  const auto registry = make_registry();
  const auto dev = open_host_device(1);
  std::vector<plan> plans;
  for (const std::string name : {"camera", "batch"}) {
    auto spec = small_pipeline(name, strategy::overlap, graph_mode::stage);
    spec.run.workers = 1;
    if (name == "camera") {
      spec.run.arrival = arrival::poisson;
      spec.run.rate = per_second;
    }
    plans.push_back(plan_for_host(spec, registry));
  }
  const pipeline_sharing shared(sharing::cpu, plans, *dev);
  session camera(plans[0], *dev, nullptr, &shared.of(0));
  session batch(plans[1], *dev, nullptr, &shared.of(1));
  std::vector<concurrent_run> runs = {
      {.name = "camera", .session = &camera, .foreground = true, .arrival_seed = 3},
      {.name = "batch", .session = &batch}};
  frame_allowance().give(0, runs, horizon);
  const auto records = run_at_once(runs, nullptr, sharing::cpu, horizon);
  std::vector<stamp_pair> stages;  // of both pipelines, on one clock
  for (const run_record& record : records) {
    expect_stopped_at_horizon(record);
    for (const stage_record& stage : record.stages) {
      for (const stamp_pair& at : stage.cpu) {
        stages.push_back({*record.epoch + at.begin, *record.epoch + at.end});
      }
    }
  }
  expect_arrivals(records[0], 3);
  std::ranges::sort(stages, {}, &stamp_pair::begin);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    ASSERT_LE(stages[i - 1].end, stages[i].begin) << "the worker runs one stage at a time";
  }
  EXPECT_EQ(stages.size(), 2 * (records[0].frames.size() + records[1].frames.size()));
}

}  // namespace
}  // namespace graphline
