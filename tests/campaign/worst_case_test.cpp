#include "framework/campaign/predict/worst_case.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/campaign/predict/prediction.hpp"
#include "framework/plan/policies/policies.hpp"
#include "tests/campaign/drawn_pipelines.hpp"

namespace graphline {
namespace {

using namespace testing_plans;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

worst_case bound_of(const drawn_run& wanted, const run_record& source,
                    const std::map<std::string, nanoseconds>& at_most) {
  const drawn_kinds kinds(wanted);
  prediction_options options = exact_options();
  options.at_most = at_most;
  options.cores = static_cast<int>(wanted.workers);
  return *predict(kinds.planned(), {{"s.json", source}}, options).prediction->worst_case;
}

nanoseconds longest_frame(const run_record& run) {
  nanoseconds longest = 0;
  for (const frame_record& frame : run.frames) longest = std::max(longest, frame.end - frame.due);
  return longest;
}

/// Limits issued device stages; 0 for no limit.
void set_window(plan& p, std::size_t window) {
  p.run.window = static_cast<std::int64_t>(window);
  for (planned_stage& stage : p.stages) {
    if (window > 0 && stage.on == side::device && !stage.inserted) {
      stage.signals = stage.host_waits = true;
    }
  }
}

TEST(worst_case, is_never_exceeded) {
  const overheads of{.issue = 700,
                     .wake_up = 30'000,
                     .completion_delay = 30'000,
                     .device_start = 40'000,
                     .oversleep = 30'000};
  double tightest = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    drawn_pipeline drawn(seed, 20);
    const auto& stages = drawn.run.planned.stages;
    if (std::ranges::none_of(stages, [](const auto& s) { return s.on == side::device; })) {
      continue;  // a source without device stages shows no delays
    }
    drawn.run.workers = 1 + seed % 8;
    const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1), of);
    nanoseconds longest = 0;
    for (const auto& frame : drawn.run.times) longest = std::max(longest, frame.front());
    for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
      for (const std::size_t in_flight : {1U, 2U}) {
        if (how == strategy::serial && in_flight > 1) continue;
        drawn_run wanted = drawn.under(how, graph_mode::stage, in_flight);
        if (how == strategy::overlap) set_window(wanted.planned, seed % 3);
        if (in_flight > 1) {
          // As often as frames may be due without overlapping.
          wanted.planned.run.arrival = arrival::constant;
          wanted.planned.run.rate = 1;
          const nanoseconds period = bound_of(wanted, source, {{"0", longest}}).bound;
          wanted.planned.run.rate = 1e9 / static_cast<double>(period);
        }
        const worst_case found = bound_of(wanted, source, {{"0", longest}});
        const nanoseconds reached = longest_frame(measured(wanted, of));
        ASSERT_LE(reached, found.bound)
            << "seed " << seed << ", " << to_word(how) << ", " << in_flight << " in flight, window "
            << wanted.planned.run.window;
        tightest =
            std::max(tightest, static_cast<double>(reached) / static_cast<double>(found.bound));
      }
    }
  }
  EXPECT_GT(tightest, 0.9);
}

TEST(worst_case, contains_waits_for_the_wake_ups_of_other_stages) {
  // The worker that wakes up for the long CPU stage takes the one that waited for the device, so
  // the long stage waits for a second wake-up.
  drawn_pipeline drawn(0, 10);
  drawn.run.planned = plan_of({side::device, side::cpu, side::cpu}, {{0, 1}}, streams);
  drawn.run.workers = 8;
  drawn.run.times.assign(10, {9'000, 60'000, 1'000'000});
  const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1));
  const drawn_run wanted = drawn.under(strategy::overlap, graph_mode::stage, 1);
  const drawn_kinds kinds(wanted);
  const source_times times(kinds.planned(), {{"s.json", source}}, exact_options());
  const source_overheads slow{.completion_delay = 10'000,
                              .wake_up = 60'000,
                              .device_start = 40'000,
                              .device_restart = 40'000};
  const nanoseconds reached = longest_frame(measured(
      wanted, {.issue = 0, .wake_up = 60'000, .completion_delay = 10'000, .device_start = 40'000}));
  EXPECT_GT(reached, 1'060'000);
  EXPECT_LE(reached, bound_frames(kinds.planned(), times, slow, 8, {}).bound);
}

/// 4 ms on the device, then two CPU stages of 2 and 3 ms for one of 1 ms.
drawn_pipeline diamond() {
  drawn_pipeline made(0, 10);
  made.run.planned = plan_of({side::device, side::cpu, side::cpu, side::cpu},
                             {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, streams);
  made.run.workers = 2;
  made.run.times.assign(10, {4'000'000, 2'000'000, 3'000'000, 1'000'000});
  return made;
}

TEST(worst_case, adds_up_all_stages_of_one_thread) {
  const drawn_pipeline drawn = diamond();
  const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1));
  const auto wanted = drawn.under(strategy::async, graph_mode::stage, 1);
  EXPECT_EQ(bound_of(wanted, source, {{"0", 5'000'000}}).bound, 11'000'000);
  EXPECT_EQ(bound_of(wanted, source, {{"0", 0}}).bound, 6'000'000);
}

TEST(worst_case, divides_cpu_stages_among_cores_but_for_those_on_the_longest_path) {
  const drawn_pipeline drawn = diamond();
  const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1));
  const auto wanted = drawn.under(strategy::overlap, graph_mode::stage, 1);
  const worst_case found = bound_of(wanted, source, {{"0", 4'000'000}});
  // 4 ms + (2 + 3 + 1) ms / 2 + (3 + 1) ms / 2
  EXPECT_EQ(found.bound, 9'000'000);
  ASSERT_EQ(found.stages.size(), 4U);
  EXPECT_TRUE(found.stages[0].stated);
  EXPECT_EQ(found.stages[2].at_most, 3'000'000);
  EXPECT_FALSE(found.stages[2].stated);
  EXPECT_FALSE(found.period);
  EXPECT_EQ(found.issue + found.delays, 0);
}

TEST(worst_case, warns_of_a_time_that_the_source_exceeded) {
  const drawn_pipeline drawn = diamond();
  const auto run = drawn.under(strategy::serial, graph_mode::stage, 1);
  const drawn_kinds kinds(run);
  prediction_options options = exact_options();
  options.at_most = {{"2", 2'500'000}};
  const run_record made = predict(kinds.planned(), {{"s.json", measured(run)}}, options);
  EXPECT_THAT(made.warnings, ::testing::Contains(HasSubstr(
                                 "stages take longer than --at-most states: '2' up to 3.00 ms")));
}

TEST(worst_case, needs_a_policy_that_does_not_hold_stages_back) {
  const drawn_pipeline drawn = diamond();
  const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1));
  auto wanted = drawn.under(strategy::overlap, graph_mode::stage, 1);
  policy_kind holding = *std::ranges::find(builtin_policies(), "fifo", &policy_kind::name);
  wanted.planned.policy.kind = &holding;
  EXPECT_GT(bound_of(wanted, source, {{"0", 1}}).bound, 0);
  holding.holds = true;
  EXPECT_THAT(
      [&] {
        bound_of(wanted, source, {{"0", 1}});
      },
      ThrowsMessage<input_error>(HasSubstr("policy fifo holds stages back")));
}

TEST(worst_case, needs_frames_that_do_not_overlap) {
  const drawn_pipeline drawn = diamond();
  const run_record source = measured(drawn.under(strategy::serial, graph_mode::stage, 1));
  auto wanted = drawn.under(strategy::overlap, graph_mode::stage, 2);
  EXPECT_THAT(
      [&] {
        bound_of(wanted, source, {{"0", 1}});
      },
      ThrowsMessage<input_error>(HasSubstr("so frames can overlap")));
  wanted.planned.run.arrival = arrival::constant;
  wanted.planned.run.rate = 100;
  const worst_case constant = bound_of(wanted, source, {{"0", 1}});
  EXPECT_EQ(constant.period, 10'000'000);
  wanted.planned.run.jitter = 300'000;
  EXPECT_EQ(bound_of(wanted, source, {{"0", 1}}).bound, constant.bound + 300'000);
  wanted.planned.run.burst = 2;
  EXPECT_THAT(
      [&] {
        bound_of(wanted, source, {{"0", 1}});
      },
      ThrowsMessage<input_error>(HasSubstr("2 frames are due at once, so frames can overlap")));
  wanted.planned.run.burst = 1;
  wanted.planned.run.arrival = arrival::trace;
  wanted.planned.arrivals = std::make_shared<const arrival_trace>(trace_of({0, 10'000'000}));
  EXPECT_THAT(
      [&] {
        bound_of(wanted, source, {{"0", 1}});
      },
      ThrowsMessage<input_error>(HasSubstr("arrivals follow a trace, so frames can overlap")));
  wanted.planned.run.arrival = arrival::poisson;
  EXPECT_THAT(
      [&] {
        bound_of(wanted, source, {{"0", 1}});
      },
      ThrowsMessage<input_error>(HasSubstr("so frames can overlap")));
  EXPECT_THAT(
      [&] {
        bound_of(drawn.under(strategy::async, graph_mode::stage, 1), source, {{"no", 1}});
      },
      ThrowsMessage<input_error>(HasSubstr("--at-most no: the pipeline has no such stage")));
}

}  // namespace
}  // namespace graphline
