#include "framework/run/execute/frame_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

const tensor_type frame_type{shape{64}, dtype::int64};
constexpr std::int64_t warm_frames = 2;

/// The first numbers of frames, as the last stage sees them.
struct seen_frames {
  std::vector<std::int64_t> values;
  std::shared_future<void> gate;  ///< waited for by each measured frame, if there is one
};

class sink final : public cpu_stage {
 public:
  explicit sink(seen_frames& into) : into_(into) {}
  void run(const cpu_call& call) override {
    if (call.frame < warm_frames) return;
    if (into_.gate.valid()) into_.gate.wait();
    into_.values.push_back(call.inputs[0].as<std::int64_t>()[0]);
  }

 private:
  seen_frames& into_;
};

stage_kind sink_kind(seen_frames& into) {
  stage_kind kind;
  kind.name = "sink";
  kind.on = side::cpu;
  kind.inputs = {{"values", "int64"}};
  kind.prepare = [&into](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return prepared_stage{
        .make_cpu = [&into](const stage_config&) { return std::make_unique<sink>(into); }};
  };
  return kind;
}

/// feed -> sink, with `queue` places.
struct fed_session {
  fed_session(
      const way& w, std::int64_t frames, std::int64_t queue, queue_policy when_full,
      const std::function<void(settings&)>& change = [](settings&) {})
      : registry(make_registry()) {
    registry.add(feed.source_kind("source"));
    registry.add(sink_kind(seen));
    auto spec = pipeline_of({make_stage("in", "source", {}), make_stage("out", "sink", {"in"})},
                            frames, warm_frames);
    for (auto& stage : spec.stages) stage.parameters = node::mapping({});
    w.set(spec.run);
    spec.run.arrival = arrival::constant;
    spec.run.rate = 1000;
    spec.run.queue = queue;
    spec.run.when_full = when_full;
    change(spec.run);
    host = open_host_device(1);
    s.emplace(plan_for_host(spec, registry), *host);
  }

  /// Submits a frame of this number.
  bool submit(std::int64_t number) {
    std::array<std::int64_t, 64> values{};
    values.fill(number);
    return feed.submit({{values.data(), frame_type}});
  }

  /// As `submit`, as soon as a run takes frames.
  void submit_first(std::int64_t number) {
    while (!submit(number)) std::this_thread::yield();
  }

  frame_feed feed{{frame_type}};
  seen_frames seen;
  stage_registry registry;
  std::unique_ptr<device> host;
  std::optional<session> s;
};

class a_fed_run : public testing::TestWithParam<way> {};

TEST_P(a_fed_run, sees_every_frame_once_in_order_from_when_it_was_submitted) {
  constexpr std::int64_t frames = 50;
  fed_session fed(GetParam(), frames, 4, queue_policy::block);
  std::vector<nanoseconds> before;
  std::vector<nanoseconds> after;
  std::thread camera([&] {
    fed.submit_first(0);
    for (std::int64_t i = 1; i < frames; ++i) {
      before.push_back(now());
      EXPECT_TRUE(fed.submit(i));
      after.push_back(now());
    }
  });
  const nanoseconds epoch = now();
  const run_record record = whole_run(*fed.s, {.feed = &fed.feed, .common_epoch = epoch});
  camera.join();
  std::vector<std::int64_t> expected(frames);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(fed.seen.values, expected);
  ASSERT_EQ(record.frames.size(), frames);
  for (std::size_t i = 1; i < record.frames.size(); ++i) {
    EXPECT_GE(record.frames[i].due + epoch, before[i - 1]);
    EXPECT_LE(record.frames[i].due + epoch, after[i - 1]);
    EXPECT_LE(record.frames[i].due, record.frames[i].begin);
  }
  EXPECT_FALSE(fed.submit(frames)) << "after the run";
}

TEST_P(a_fed_run, ends_with_what_was_submitted_when_the_feed_is_closed) {
  fed_session fed(GetParam(), 1000, 16, queue_policy::block);
  std::thread camera([&] {
    fed.submit_first(0);
    for (std::int64_t i = 1; i < 7; ++i) EXPECT_TRUE(fed.submit(i));
    fed.feed.close();
    EXPECT_FALSE(fed.submit(7));
  });
  const run_record record = whole_run(*fed.s, {.feed = &fed.feed});
  camera.join();
  EXPECT_EQ(record.frames.size(), 7U);
  EXPECT_EQ(record.run.frames, 7);
  EXPECT_FALSE(record.interrupted);
}

INSTANTIATE_TEST_SUITE_P(ways, a_fed_run, testing::ValuesIn(every_way({1, 3})),
                         [](const auto& test) { return name_of(test.param); });

/// The data of a frame whose source stage was cut short is not that of the next frame.
TEST(frame_feed, passes_each_frame_its_own_data_after_one_that_was_cut_short) {
  const auto rules = [](settings& run) {
    run.deadline = 50'000'000;
    run.late = late_rule::skip_rest;
    run.workers = 1;
  };
  fed_session fed({strategy::overlap, 2}, 3, 4, queue_policy::block, rules);
  std::promise<void> gate;
  fed.seen.gate = gate.get_future().share();
  std::thread camera([&] {
    fed.submit_first(0);
    fed.submit(1);  // begins, and waits for the only worker
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    fed.submit(2);
  });
  const run_record record = whole_run(*fed.s, {.feed = &fed.feed});
  camera.join();
  EXPECT_EQ(record.load.cut_short, 1);
  EXPECT_EQ(fed.seen.values, (std::vector<std::int64_t>{0, 2}));
}

TEST(frame_feed, drops_frames_that_are_late_when_they_could_begin) {
  const auto rules = [](settings& run) {
    run.deadline = 50'000'000;
    run.late = late_rule::drop;
  };
  fed_session fed({strategy::async}, 3, 4, queue_policy::block, rules);
  std::promise<void> gate;
  fed.seen.gate = gate.get_future().share();
  std::thread camera([&] {
    fed.submit_first(0);
    fed.submit(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    fed.submit(2);
    gate.set_value();
    fed.feed.close();
  });
  const run_record record = whole_run(*fed.s, {.feed = &fed.feed});
  camera.join();
  EXPECT_EQ(record.load.dropped.size(), 1U);
  EXPECT_EQ(fed.seen.values, (std::vector<std::int64_t>{0, 2}));
}

/// What a queue of two does to frames 1 to 5 while frame 0 is under way.
std::vector<bool> answers_while_busy(fed_session& fed, run_record& record) {
  std::promise<void> gate;
  fed.seen.gate = gate.get_future().share();
  std::vector<bool> answers;
  std::thread camera([&] {
    fed.submit_first(0);
    // Until frame 0 has left the queue, which two more then fill.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (std::int64_t i = 1; i <= 5; ++i) answers.push_back(fed.submit(i));
    fed.feed.close();
    gate.set_value();
  });
  record = whole_run(*fed.s, {.feed = &fed.feed});
  camera.join();
  return answers;
}

TEST(a_full_queue_of_a_feed, drops_the_newest_and_says_so) {
  fed_session fed({strategy::async}, 100, 2, queue_policy::drop_newest);
  run_record record;
  EXPECT_THAT(answers_while_busy(fed, record),
              testing::ElementsAre(true, true, false, false, false));
  EXPECT_THAT(fed.seen.values, testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(record.load.dropped.size(), 3U);
  EXPECT_EQ(record.load.found_full, 3);
  EXPECT_EQ(record.load.longest_queue, 2);
}

TEST(a_full_queue_of_a_feed, drops_the_oldest) {
  fed_session fed({strategy::async}, 100, 2, queue_policy::drop_oldest);
  run_record record;
  EXPECT_THAT(answers_while_busy(fed, record), testing::Each(true));
  EXPECT_THAT(fed.seen.values, testing::ElementsAre(0, 4, 5));
  EXPECT_EQ(record.load.dropped.size(), 3U);
}

TEST(a_feed, refuses_frames_of_other_types_and_plans_without_an_open_load) {
  fed_session fed({strategy::async}, 1, 1, queue_policy::block);
  const float other = 0;
  EXPECT_THROW(fed.feed.submit({{&other, {shape{1}, dtype::float32}}}), std::logic_error);
  host_session closed(chain());
  EXPECT_THROW(closed.run({.feed = &fed.feed}), input_error);
  const std::function<void(settings&)> of_schedules[] = {
      [](settings& run) { run.phase = 1; }, [](settings& run) { run.jitter = 1; },
      [](settings& run) { run.burst = 2; }, [](settings& run) { run.arrival = arrival::trace; }};
  for (const auto& change : of_schedules) {
    settings run = fed.s->planned().run;
    fed.feed.open(run);
    change(run);
    EXPECT_THROW(fed.feed.open(run), input_error);
  }
}

}  // namespace
}  // namespace graphline
