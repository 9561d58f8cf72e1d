#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::findings;
using samples::for_runs_of;
using samples::made_experiment;
using samples::made_of;
using samples::ms;
using samples::taking;
using samples::two_strategies;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(overlap_findings, report_how_long_stages_ran_concurrently) {
  auto record = two_strategies();
  for_runs_of(record, 0, [](run_record& run) { run.run.strategy = strategy::serial; });
  EXPECT_THAT(findings(record),
              Contains("ran_concurrently [overlap_of(strategy=async) overlap=16.0 ms "
                       "frame=74.0 ms configurations=strategy=async]"));
}

TEST(overlap_findings, report_missing_overlap) {
  auto in_a_row = made_of({{"wait", "block"}}, taking(87 * ms));
  in_a_row.change = samples::put_in_a_row;
  auto record = made_experiment("e", {made_of({{"wait", "spin"}}), in_a_row}, 3);
  EXPECT_THAT(findings(record), Each(Not(StartsWith("no_overlap"))));
  const auto overlapped = [](run_record& run) { run.run.strategy = strategy::overlap; };
  for (const std::size_t c : {0, 1}) for_runs_of(record, c, overlapped);
  EXPECT_THAT(findings(record),
              Contains("no_overlap [stages_in_a_row(wait=block) stages=86.4 ms frame=87.0 ms "
                       "configurations=wait=block]"));
  for_runs_of(record, 1, [](run_record& run) { run.run.in_flight = 2; });
  EXPECT_THAT(findings(record), Contains(AllOf(StartsWith("no_overlap"), HasSubstr(" period="))));
  // Not reported below the clock error.
  for_runs_of(record, 1, [](run_record& run) { run.clock_error = 5 * ms; });
  EXPECT_THAT(findings(record), Each(Not(StartsWith("no_overlap"))));
}

TEST(overlap_findings, do_not_miss_overlap_that_one_worker_cannot_have) {
  auto in_a_row = made_of({{"wait", "block"}}, taking(87 * ms));
  in_a_row.change = [](run_record& run) {
    samples::put_in_a_row(run);
    run.run.strategy = strategy::overlap;
    for (const std::size_t s : {0, 2}) {  // all on the CPU
      run.stages[s].on = side::cpu;
      run.stages[s].cpu = std::move(run.stages[s].device);
    }
  };
  auto record = made_experiment("e", {made_of({{"wait", "spin"}}), in_a_row}, 3);
  EXPECT_THAT(findings(record), Contains(StartsWith("no_overlap")));
  for_runs_of(record, 1, [](run_record& run) { run.run.workers = 1; });
  EXPECT_THAT(findings(record), Each(Not(StartsWith("no_overlap"))));
  // A device stage could still run beside them.
  for_runs_of(record, 1, [](run_record& run) {
    run.stages[0].on = side::device;
    run.stages[0].device = std::move(run.stages[0].cpu);
  });
  EXPECT_THAT(findings(record), Contains(StartsWith("no_overlap")));
}

TEST(overlap_findings, see_frames_that_overlap_each_other) {
  auto pipelined = made_of({{"in_flight", "2"}}, taking(87 * ms));
  pipelined.change = [](run_record& run) {
    samples::put_in_a_row(run);
    run.run.in_flight = 2;
    // Each frame begins when the device has finished the previous one.
    for (std::size_t i = 0; i < run.frames.size(); ++i) {
      const auto earlier = static_cast<nanoseconds>(i) * 16 * ms;
      run.frames[i].begin -= earlier;
      run.frames[i].end -= earlier;
      for (auto* stamps : {&run.stages[0].device, &run.stages[1].cpu, &run.stages[2].device}) {
        (*stamps)[i].begin -= earlier;
        (*stamps)[i].end -= earlier;
      }
    }
  };
  auto one = made_of({{"in_flight", "1"}}, taking(87 * ms));
  one.change = samples::put_in_a_row;
  const auto said = findings(made_experiment("e", {one, pipelined}, 3));
  EXPECT_THAT(said,
              Contains(AllOf(StartsWith("ran_concurrently [overlap_of(in_flight=2) overlap=14."),
                             HasSubstr(" period="))));
  // If stages wait for each other, a single frame in flight cannot overlap.
  EXPECT_THAT(said, Each(Not(StartsWith("no_overlap"))));
}

TEST(overlap_findings, are_none_for_stages_that_wait_for_one_worker) {
  auto queued = made_of({{"strategy", "overlap"}}, taking(87 * ms));
  queued.change = [](run_record& run) {
    samples::put_in_a_row(run);
    // Its first event completes immediately, its work only after the worker has finished
    // `backbone`.
    run.stages[2].device = run.stages[0].device;
    for (auto& stamp : run.stages[2].device) stamp.end += 1 * ms;
    for (auto& stamp : run.stages[1].cpu) stamp = {stamp.begin + 1 * ms, stamp.end + 1 * ms};
  };
  auto record = made_experiment("e", {queued}, 3);
  for_runs_of(record, 0, [](run_record& run) { run.device.one_at_a_time = true; });
  EXPECT_THAT(findings(record), Each(Not(HasSubstr("concurrently"))));
  for_runs_of(record, 0, [](run_record& run) { run.device.one_at_a_time = false; });
  EXPECT_THAT(findings(record), Contains(HasSubstr("overlap=70.0 ms")));
}

}  // namespace
}  // namespace graphline
