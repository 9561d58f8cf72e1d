#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_run.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline::report {
namespace {

using samples::cell_of;
using samples::made_run;
using samples::number;
using samples::part_of;
using samples::text;

constexpr nanoseconds ms = 1'000'000;

/// A run of one CPU stage on a worker that it shares. Each frame is due at a multiple of 10 ms.
run_record one_stage(const char* name, std::int64_t level, std::vector<stamp_pair> calls) {
  made_run made(strategy::overlap);
  made.record.pipeline = name;
  made.record.run.workers = 1;
  made.record.run.policy = "fixed_priority";
  made.cpu_stage(name);
  made.record.stages[0].level = level;
  made.record.stages[0].deadline = 4 * ms;
  nanoseconds due = 0;
  for (const auto& [begin, end] : calls) {
    made.frame(due, end * ms).cpu(0, begin * ms, end * ms).cause(0, cause::frame_begun);
    due += 10 * ms;
  }
  made.record.run.frames = std::ssize(calls);
  return made.record;
}

/// In the first frame, the batch job runs for 3 ms although the camera is ready 1 ms later.
experiment_record shared_worker() {
  experiment_record record;
  record.name = "one_core";
  record.how.share = sharing::cpu;
  record.configurations = {{"together", {}, {"camera", "batch"}}};
  auto camera = one_stage("camera", 1, {{4, 6}, {10, 12}});
  camera.frames[0].begin = 2 * ms;
  record.trials = {{0, 0, 0, {camera, one_stage("batch", 0, {{1, 4}, {12, 15}})}}};
  return record;
}

TEST(describe_waits, shows_who_held_whom_up_in_a_set) {
  const auto says = describe(shared_worker());
  const auto& waits = part_of<table>(says, "waits");
  EXPECT_EQ(number(cell_of(waits, "camera", "wait")), 1 * ms) << "2 ms and 0";
  EXPECT_EQ(number(cell_of(waits, "camera", "longest_wait")), 2 * ms);
  EXPECT_EQ(number(cell_of(waits, "camera", "behind_batch")), 1 * ms);
  EXPECT_EQ(number(cell_of(waits, "batch", "behind_camera")), 1 * ms) << "0 and 2 ms";
  const auto& order = part_of<table>(says, "rank_order");
  ASSERT_EQ(order.rows.size(), 1U);
  EXPECT_EQ(number(cell_of(order, "camera", "blocked")), 1);
  EXPECT_EQ(number(cell_of(order, "camera", "longest_blocked")), 2 * ms);
  EXPECT_EQ(number(cell_of(order, "camera", "bound")), 3 * ms);
  EXPECT_EQ(number(cell_of(order, "camera", "inversions")), 0);
  samples::expect_golden("experiment_waits.txt", as_text(says));
}

TEST(describe_waits, shows_the_waits_of_the_stages_of_a_run) {
  made_run made(strategy::overlap);
  made.record.run.workers = 1;
  made.record.threads = {"worker 1"};
  made.cpu_stage("read");
  made.cpu_stage("log", {{0, satisfied_by::cpu_return}});
  made.cpu_stage("steer", {{0, satisfied_by::cpu_return}});
  made.record.stages[2].level = 1;
  made.record.stages[2].deadline = 5 * ms;
  made.frame(0, 7 * ms).cpu(0, 0, 1 * ms).cause(0, cause::frame_begun);
  made.cpu(1, 1 * ms, 5 * ms).cause(1, 0).cpu(2, 5 * ms, 7 * ms).cause(2, 0);
  const auto says = describe(made.record, analyze(made.record));
  const auto& waits = part_of<table>(says, "waits");
  EXPECT_EQ(text(cell_of(waits, "steer", "behind")), "log");
  EXPECT_EQ(number(cell_of(waits, "steer", "behind_mean")), 4 * ms);
  EXPECT_EQ(number(cell_of(part_of<table>(says, "rank_order"), "steer", "inversions")), 1);
  const auto& deadlines = part_of<table>(says, "stage_deadlines");
  EXPECT_EQ(number(cell_of(deadlines, "steer", "late")), 1);
  EXPECT_EQ(number(cell_of(deadlines, "steer", "max_lateness")), 2 * ms);
  EXPECT_THAT(samples::sentences_of(says, finding_severity::note),
              testing::Contains("priority inversions: 'steer' waited 1 time while a stage of lower "
                                "priority started, up to 4.00 ms in one wait"));
}

}  // namespace
}  // namespace graphline::report
