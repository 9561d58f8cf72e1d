#include "framework/plan/schedules/schedule.hpp"

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "tests/plan/random_plans.hpp"

namespace graphline::plan_testing {
namespace {

using enum schedule_step::action;
using testing::IsEmpty;

constexpr int drawn_pipelines = 400;

plan planned_with(pipeline_spec spec, strategy how, graph_mode graphs = graph_mode::stage) {
  spec.run.strategy = how;
  spec.run.graphs = graphs;
  return plan_of(spec);
}

/// A device stage, a CPU stage that reads its result, and a device stage that reads nothing.
plan three_stages(strategy how) {
  spec_builder b;
  b.input("in", {4});
  b.stage("a", "gpu", {"in"}).with("shape", extents({4}));
  b.stage("b", "work", {"a"}).with("shape", extents({4}));
  b.stage("c", "gpu", {"in"}).with("shape", extents({4}));
  return planned_with(b.spec, how);
}

TEST(schedules, of_serial_await_each_device_stage) {
  const plan p = three_stages(strategy::serial);
  const auto a = index_of(p, "a"), copy = index_of(p, "copy:a");
  const auto b = index_of(p, "b"), c = index_of(p, "c");
  const std::vector<schedule_step> expected = {{issue, a}, {await, a}, {issue, copy}, {await, copy},
                                               {run, b},   {issue, c}, {await, c}};
  EXPECT_EQ(p.schedule.steps, expected);
}

TEST(schedules, of_async_await_what_a_cpu_stage_reads) {
  const plan p = three_stages(strategy::async);
  const auto a = index_of(p, "a"), copy = index_of(p, "copy:a");
  const auto b = index_of(p, "b"), c = index_of(p, "c");
  const std::vector<schedule_step> expected = {
      {issue, a}, {issue, copy}, {await, copy}, {run, b}, {issue, c}};
  EXPECT_EQ(p.schedule.steps, expected);
}

/// Expects that earlier steps satisfy what each step of the host thread needs.
void expect_sound(const plan& p) {
  std::set<std::size_t> begun, complete;
  for (const schedule_step& step : p.schedule.steps) {
    const planned_stage& stage = p.stages[step.stage];
    if (step.what == await) {
      ASSERT_TRUE(begun.contains(step.stage)) << stage.name;
      ASSERT_TRUE(stage.signals && stage.host_waits) << stage.name;
      complete.insert(step.stage);
      continue;
    }
    ASSERT_EQ(step.what == run, stage.on == side::cpu) << stage.name;
    for (const dependency& wait : stage.waits) {
      const bool by_host = wait.how == satisfied_by::completion;
      ASSERT_TRUE((by_host ? complete : begun).contains(wait.stage)) << stage.name;
    }
    ASSERT_TRUE(begun.insert(step.stage).second) << stage.name << " twice";
    if (step.what == run) complete.insert(step.stage);
  }
  ASSERT_EQ(begun.size(), p.stages.size());
}

TEST(schedules, of_one_host_thread_meet_every_edge_and_hold_every_stage_once) {
  random_source random(11);
  for (int round = 0; round < drawn_pipelines; ++round) {
    const pipeline_spec spec = random_spec(random, 30);
    expect_sound(planned_with(spec, strategy::serial));
    expect_sound(planned_with(spec, strategy::async));
  }
}

TEST(schedules, of_serial_leave_nothing_on_the_device_between_two_stages) {
  random_source random(12);
  for (int round = 0; round < drawn_pipelines; ++round) {
    const plan p = planned_with(random_spec(random, 30), strategy::serial);
    const auto& steps = p.schedule.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].what != issue) continue;
      ASSERT_LT(i + 1, steps.size());
      ASSERT_EQ(steps[i + 1], (schedule_step{await, steps[i].stage}));
    }
  }
}

TEST(schedules, decide_nothing_before_the_run_where_stages_go_as_they_are_ready) {
  random_source random(13);
  for (int round = 0; round < 20; ++round) {
    const pipeline_spec spec = random_spec(random, 30);
    EXPECT_THAT(planned_with(spec, strategy::overlap).schedule.steps, IsEmpty());
    EXPECT_THAT(planned_with(spec, strategy::async, graph_mode::frame).schedule.steps, IsEmpty());
    EXPECT_THAT(planned_with(spec, strategy::overlap, graph_mode::frame).schedule.steps, IsEmpty());
  }
}

TEST(schedules, say_what_captures_and_who_has_the_frame) {
  for (const auto graphs : {graph_mode::off, graph_mode::stage, graph_mode::frame}) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      settings run;
      run.strategy = how;
      run.graphs = graphs;
      const schedule_properties of = properties_of(run);
      EXPECT_EQ(of.one_launch, graphs == graph_mode::frame);
      EXPECT_EQ(of.in_order, how == strategy::async);
      EXPECT_EQ(of.one_host_thread(), how == strategy::async && graphs != graph_mode::frame);
      EXPECT_FALSE(of.waits_each);
    }
  }
  settings serial;
  serial.strategy = strategy::serial;
  EXPECT_TRUE(properties_of(serial).waits_each);
  spec_builder b;
  b.stage("a", "work", {}).with("shape", extents({4}));
  EXPECT_FALSE(planned_with(b.spec, strategy::async, graph_mode::off).schedule.captures);
  EXPECT_TRUE(planned_with(b.spec, strategy::async, graph_mode::frame).schedule.captures);
}

}  // namespace
}  // namespace graphline::plan_testing
