#include "framework/analysis/best_possible.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/made_run.hpp"

namespace graphline {
namespace {

using samples::made_run;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto by_event = satisfied_by::event_wait;
constexpr auto complete = satisfied_by::completion;
constexpr auto returned = satisfied_by::cpu_return;

/// Device stages `left` and `right` of 30 and 50 ns on streams of their own, and a CPU stage of
/// 25 ns that reads `left`; with long gaps between them.
made_run fork(strategy how, const char* backend = "cuda", const char* right_on = "right") {
  return made_run(how, timing_method::event, backend)
      .device_stage("left", {}, "left")
      .device_stage("right", {}, right_on)
      .cpu_stage("reads", {{0, complete}})
      .frame(1000, 2000)
      .launch(0, 1000, 1005)
      .device(0, 1100, 1130)
      .launch(1, 1110, 1120)
      .device(1, 1200, 1250)
      .cpu(2, 1500, 1525);
}

TEST(best_possible, is_the_longest_path_where_nothing_else_is_in_the_way) {
  const auto by_edges = best_possible(fork(strategy::overlap).record, 0, constraint::edges);
  EXPECT_EQ(by_edges.time, 55);
  EXPECT_THAT(by_edges.path, ElementsAre(0, 2));
  EXPECT_EQ(best_possible(fork(strategy::overlap).record, 0, constraint::plan).time, 55);
  EXPECT_EQ(best_possible(fork(strategy::async).record, 0, constraint::plan).time, 55);
}

TEST(best_possible, waits_under_serial_for_each_device_stage) {
  const auto record = fork(strategy::serial).record;
  const auto by_plan = best_possible(record, 0, constraint::plan);
  EXPECT_EQ(by_plan.time, 105);
  EXPECT_THAT(by_plan.path, ElementsAre(0, 1, 2));
  EXPECT_EQ(best_possible(record, 0, constraint::edges).time, 55);
}

TEST(best_possible, lets_stages_of_a_stream_take_turns_by_the_plan) {
  const auto record = fork(strategy::async, "cuda", "left").record;
  const auto by_plan = best_possible(record, 0, constraint::plan);
  EXPECT_EQ(by_plan.time, 80);
  EXPECT_THAT(by_plan.path, ElementsAre(0, 1));
  EXPECT_EQ(best_possible(record, 0, constraint::edges).time, 55);
}

TEST(best_possible, takes_the_order_in_which_a_stream_had_its_stages_under_overlap) {
  const auto record = made_run(strategy::overlap)
                          .cpu_stage("slow")
                          .device_stage("late", {{0, returned}})
                          .device_stage("soon")
                          .frame(0, 100)
                          .cpu(0, 0, 60)
                          .launch(1, 60, 61)
                          .device(1, 61, 91)
                          .launch(2, 0, 1, 1)
                          .device(2, 2, 42)
                          .record;
  // As planned, `soon` would end 130 ns after the begin.
  const auto by_plan = best_possible(record, 0, constraint::plan);
  EXPECT_EQ(by_plan.time, 90);
  EXPECT_THAT(by_plan.path, ElementsAre(0, 1));
}

TEST(best_possible, has_one_host_thread_for_cpu_stages_and_launches) {
  const auto made = [](strategy how) {
    return made_run(how)
        .cpu_stage("first")
        .cpu_stage("second")
        .device_stage("net")
        .frame(0, 100)
        .cpu(0, 0, 20)
        .cpu(1, 20, 30)
        .launch(2, 30, 31)
        .device(2, 31, 71)
        .record;
  };
  const auto async = best_possible(made(strategy::async), 0, constraint::plan);
  EXPECT_EQ(async.time, 70);
  EXPECT_THAT(async.path, ElementsAre(0, 1, 2));
  EXPECT_EQ(best_possible(made(strategy::overlap), 0, constraint::plan).time, 40);
  auto whole = made(strategy::async);
  whole.run.graphs = graph_mode::frame;
  EXPECT_EQ(best_possible(whole, 0, constraint::plan).time, 40);
}

TEST(best_possible, keeps_a_device_that_does_one_thing_at_a_time_busy) {
  const auto record = fork(strategy::overlap, "host").record;
  const auto best = best_possible(record, 0, constraint::edges);
  EXPECT_EQ(best.time, 80);
  EXPECT_THAT(best.path, ElementsAre(0, 1));
  // Stamps that cross are of one that waits for the other.
  auto crossing = record;
  crossing.stages[1].device[0] = {1110, 1150};
  EXPECT_EQ(best_possible(crossing, 0, constraint::edges).time, 55);
}

TEST(best_possible, takes_synced_stages_for_device_stages) {
  const auto record = made_run(strategy::async, timing_method::sync)
                          .device_stage("a", {}, "left")
                          .device_stage("b", {{0, by_event}}, "right")
                          .frame(0, 100)
                          .synced(0, 5, 45)
                          .synced(1, 50, 95)
                          .record;
  EXPECT_EQ(best_possible(record, 0, constraint::plan).time, 85);
}

TEST(best_possible, is_nothing_without_stages) {
  const auto record = made_run(strategy::async).frame(0, 10).record;
  EXPECT_EQ(best_possible(record, 0, constraint::plan).time, 0);
  EXPECT_THAT(best_possible(record, 0, constraint::plan).path, IsEmpty());
}

}  // namespace
}  // namespace graphline
