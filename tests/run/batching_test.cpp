#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "framework/device/model/model_device.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "framework/run/execute/virtual_host.hpp"
#include "tests/run/drawn_plan.hpp"
#include "tests/run/watched_queue.hpp"

namespace graphline {
namespace {

using namespace testing_load;
using namespace testing_plans;

/// One CPU stage that takes `fixed`, and `each` for each frame of a batch.
struct service {
  nanoseconds fixed;
  nanoseconds each;

  nanoseconds operator()(std::int64_t frames) const { return fixed + each * frames; }
};

struct never_run final : cpu_stage {
  void run(const cpu_call&) override { FAIL() << "it must not compute"; }
};

/// The arrivals of the settings, through the executor that really runs pipelines.
template <template <class> class Executor>
run_record run_in_virtual_time(const settings& how, const service& takes, std::uint64_t seed) {
  stage_kind kind;
  kind.name = "work";
  prepared_stage prepared;
  prepared.make_cpu = [](const stage_config&) { return std::make_unique<never_run>(); };
  plan p = plan_of({side::cpu}, {});
  p.run = how;
  p.stages[0].name = p.stages[0].config.name = "work";
  p.stages[0].kind = &kind;
  p.stages[0].prepared = std::make_shared<const prepared_stage>(std::move(prepared));
  p.schedule.steps = {{schedule_step::action::run, 0}};

  virtual_clock clock;
  const auto on = open_model_device(clock, {});
  prepared_pipeline pipeline(p, *on, nullptr);
  recording kept(p, pipeline.parts(), *on, timing_method::event, how.frames, clock.now());
  const virtual_world world{clock, 1,
                            [&](std::size_t, const frame_position& f) { return takes(f.count); }};
  Executor<virtual_host> executor(pipeline, world);
  frame_schedule due(arrival_times(how, seed), how.queue, how.when_full,
                     {how.batch_frames, how.batch_wait.value_or(0)});
  phase all;
  all.frames = how.frames;
  all.into = &kept;
  all.schedule = &due;
  const phase_result result = executor.run(all);
  run_record record;
  record.load = due.end(0, clock.now(), result.completed);
  std::move(kept).move_into(record, result.completed);
  return record;
}

template <template <class> class Executor>
void agrees_with_a_queue_that_watches_the_clock() {
  std::mt19937_64 generator(5);
  std::size_t dropped = 0;
  std::size_t together = 0;
  for (std::uint64_t round = 0; round < 60; ++round) {
    settings how;
    how.frames = 60;
    how.arrival = round % 2 == 0 ? arrival::poisson : arrival::constant;
    how.rate = 1e6 * (1 + static_cast<double>(generator() % 50));  // one in 20 to 1000 ns
    how.batch_frames = 1 + static_cast<std::int64_t>(generator() % 6);
    if (generator() % 3 != 0) how.batch_wait = static_cast<nanoseconds>(1 + generator() % 400);
    how.queue = how.batch_frames + static_cast<std::int64_t>(generator() % 4);
    how.when_full = static_cast<queue_policy>(generator() % 3);
    const service takes{static_cast<nanoseconds>(generator() % 200),
                        static_cast<nanoseconds>(1 + generator() % 60)};
    std::vector<nanoseconds> arrivals;
    for (auto next = arrival_times(how, round); const auto at = next();) {
      arrivals.push_back(at->due);
    }
    course work;
    work.work = [&](std::size_t, std::size_t count) {
      return takes(static_cast<std::int64_t>(count));
    };
    const load_outcome expected =
        watched_queue(static_cast<std::size_t>(how.queue), how.when_full,
                      {how.batch_frames, how.batch_wait.value_or(0)}, work)
            .run(arrivals);
    const run_record found = run_in_virtual_time<Executor>(how, takes, round);

    EXPECT_EQ(found.load.dropped, expected.load.dropped) << round;
    EXPECT_EQ(found.load.longest_queue, expected.load.longest_queue) << round;
    ASSERT_EQ(found.batches.size(), how.batch_frames > 1 ? expected.due.size() : 0U) << round;
    std::size_t frame = 0;
    for (std::size_t pass = 0; pass < expected.due.size(); ++pass) {
      const auto count = static_cast<std::int64_t>(expected.due[pass].size());
      if (how.batch_frames > 1) {
        EXPECT_EQ(found.batches[pass].frames, count) << round;
        EXPECT_EQ(found.batches[pass].ready, expected.ready[pass]) << round;
      }
      EXPECT_EQ(found.stages[0].cpu[pass].length(), takes(count)) << round;
      for (const nanoseconds was_due : expected.due[pass]) {
        ASSERT_LT(frame, found.frames.size());
        EXPECT_EQ(found.frames[frame].due, was_due) << round;
        EXPECT_EQ(found.frames[frame].begin, expected.begun[pass]) << round;
        EXPECT_EQ(found.frames[frame].end, expected.begun[pass] + takes(count)) << round;
        ++frame;
      }
      together += count > 1 ? 1U : 0U;
    }
    EXPECT_EQ(frame, found.frames.size());
    dropped += found.load.dropped.size();
  }
  EXPECT_GT(dropped, 100U);
  EXPECT_GT(together, 100U);
}

TEST(batching, on_one_thread_agrees_with_a_queue_that_watches_the_clock) {
  agrees_with_a_queue_that_watches_the_clock<sequential_executor>();
}

TEST(batching, on_workers_agrees_with_a_queue_that_watches_the_clock) {
  agrees_with_a_queue_that_watches_the_clock<ready_executor>();
}

}  // namespace
}  // namespace graphline
