#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"
#include "tests/run/watched_device.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Device stage `d`, then CPU stage `c`, with a copy between them.
pipeline_spec pair() {
  auto spec =
      pipeline_of({make_stage("d", "device_parts", {}), make_stage("c", "cpu_mix", {"d"})}, 2, 0);
  return spec;
}

class watched_session : public testing::Test {
 protected:
  run_record run(const pipeline_spec& spec) {
    session s(plan_for_host(spec, registry_), device_);
    device_.take_log();
    return s.run();
  }

  stage_registry registry_ = make_registry();
  watched_device device_{open_host_device(1)};
};

TEST_F(watched_session, checks_the_clock_around_the_measured_frames_and_profiles_no_others) {
  auto spec = pair();
  spec.run.frames = 1;
  spec.run.warmup = 1;
  ASSERT_FALSE(run(spec).failure);
  const std::vector<std::string> one_frame = {"frame", "d", "end", "copy:d",
                                              "end",   "c", "end", "end"};
  std::vector<std::string> expected = {"check"};
  expected.insert(expected.end(), one_frame.begin(), one_frame.end());
  expected.emplace_back("profile");
  expected.insert(expected.end(), one_frame.begin(), one_frame.end());
  expected.insert(expected.end(), {"no profile", "check"});
  EXPECT_THAT(device_.take_log(), ElementsAreArray(expected));
}

TEST_F(watched_session, goes_on_profiling_until_those_that_run_at_once_have_done_their_frames) {
  session s(plan_for_host(pair(), registry_), device_);
  run_options options;
  std::vector<std::string> before;
  options.after_frames = [&] { before = device_.take_log(); };
  ASSERT_FALSE(s.run(options).failure);
  EXPECT_THAT(before, Contains("profile"));
  EXPECT_THAT(before, Not(Contains("no profile")));
  EXPECT_THAT(device_.take_log(), ElementsAre("no profile", "check"));
}

TEST_F(watched_session, shows_ranges_of_frames_and_stages_and_ends_each) {
  for (const auto graphs : {graph_mode::stage, graph_mode::frame}) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      auto spec = pair();
      spec.run.graphs = graphs;
      spec.run.strategy = how;
      ASSERT_FALSE(run(spec).failure);
      const auto log = device_.take_log();
      const auto times = [&log](const char* what) {
        return std::count(log.begin(), log.end(), what);
      };
      EXPECT_EQ(times("frame"), 2);
      EXPECT_EQ(times("c"), 2);
      // In a frame's graph the host does nothing of its own for a device stage.
      EXPECT_EQ(times("d"), graphs == graph_mode::frame ? 0 : 2);
      EXPECT_EQ(times("end"), times("frame") + times("c") + times("d") + times("copy:d"));
    }
  }
}

TEST_F(watched_session, bounds_the_clocks_error_by_both_checks_and_tells_the_drift_between) {
  device_.first_check = {.error = 700, .drift = 90'000};  // since some earlier run: not of these
  device_.later_check = {.error = 500, .drift = -200, .rounding = 30};
  const run_record record = run(pair());
  EXPECT_EQ(record.clock_drift, -200);
  EXPECT_EQ(record.clock_error, 700 + 30);
}

TEST_F(watched_session, checks_the_clock_of_runs_at_once_around_all_of_them) {
  device_.first_check = {.error = 700};
  device_.later_check = {.error = 900, .drift = -200};
  session one(plan_for_host(pair(), registry_), device_);
  session other(plan_for_host(pair(), registry_), device_);
  const auto records = run_at_once({{.name = "one", .session = &one, .foreground = true},
                                    {.name = "other", .session = &other, .foreground = true}},
                                   nullptr);
  EXPECT_EQ(device_.clock_checks, 2);
  for (const auto& record : records) {
    EXPECT_EQ(record.clock_error, 900);
    EXPECT_EQ(record.clock_drift, -200);
  }
}

TEST_F(watched_session, goes_on_where_the_clock_cannot_be_checked_and_says_so) {
  device_.clock_problem = "the counter is gone";
  const run_record record = run(pair());
  EXPECT_FALSE(record.failure);
  EXPECT_EQ(record.frames.size(), 2U);
  EXPECT_THAT(record.warnings, Contains(HasSubstr("the counter is gone")));
}

TEST_F(watched_session, traces_the_operations_of_each_device_stage_alone) {
  for (const auto& [word, graphs] : graph_mode_words) {
    auto spec = pair();
    spec.run.graphs = graphs;
    session s(plan_for_host(spec, registry_), device_);
    run_record record = s.run();
    s.trace_operations(record);
    EXPECT_THAT(record.warnings, IsEmpty());
    for (const auto& stage : record.stages) {
      std::vector<std::string> names;
      for (const auto& operation : stage.operations) {
        names.push_back(operation.name);
        EXPECT_EQ(operation.calls.size(), 10U) << word;
        EXPECT_EQ(operation.together, operation.calls) << word;  // it is called once in a run
      }
      EXPECT_EQ(stage.traced_runs, stage.on == side::device ? 10 : 0);
      if (stage.name == "d") {
        EXPECT_THAT(names, ElementsAre("mix", "settle"));
      }
      if (stage.on == side::cpu) {
        EXPECT_THAT(names, IsEmpty());
      }
    }
    // The session is as good as before.
    EXPECT_EQ(s.run().outputs.at(0).checksum.size(), 16U);
  }
}

TEST_F(watched_session, says_why_operations_could_not_be_traced) {
  device_.trace_problem = "the profiling library is missing; install it";
  session s(plan_for_host(pair(), registry_), device_);
  run_record record = s.run();
  s.trace_operations(record);
  EXPECT_FALSE(record.failure);
  EXPECT_THAT(record.warnings,
              ElementsAre("operations were not traced: the profiling library is missing; install "
                          "it"));
}

TEST_F(watched_session, traces_no_further_stage_when_asked_to_stop) {
  session s(plan_for_host(pair(), registry_), device_);
  run_record record = s.run();
  stop_request stop;
  stop.raise();
  s.trace_operations(record, &stop);
  EXPECT_THAT(record.warnings, ElementsAre(HasSubstr("before the operations of stage 'd'")));
}

}  // namespace
}  // namespace graphline
