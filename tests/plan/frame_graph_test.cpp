#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

/// CPU stages `a` -> `b` and `c` -> `d` beside each other, and a device stage that joins them.
plan two_chains(strategy how) {
  spec_builder b;
  b.spec.run.graphs = graph_mode::frame;
  b.spec.run.strategy = how;
  b.stage("a", "work", {}).with("shape", extents({4}));
  b.stage("c", "work", {}).with("shape", extents({4}));
  b.stage("b", "work", {"a"}).stage("d", "work", {"c"}).stage("join", "gpu", {"b", "d"});
  return plan_of(b);
}

std::string stream_of(const plan& p, const std::string& stage) {
  return p.streams[stage_of(p, stage).stream].name;
}

TEST(frame_graph_plan, keeps_cpu_stages_in_declared_order_under_async) {
  const plan p = two_chains(strategy::async);
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(stream_of(p, name), "cpu");
  EXPECT_EQ(std::count_if(p.streams.begin(), p.streams.end(), [](auto& s) { return s.calls; }), 1);
}

TEST(frame_graph_plan, orders_cpu_stages_by_their_edges_alone_under_overlap) {
  const plan p = two_chains(strategy::overlap);
  EXPECT_EQ(stream_of(p, "a"), "cpu 0");
  EXPECT_EQ(stream_of(p, "b"), "cpu 0");
  EXPECT_EQ(stream_of(p, "c"), "cpu 1");
  EXPECT_EQ(stream_of(p, "d"), "cpu 1");
}

TEST(frame_graph_plan, takes_no_more_than_eight_streams_for_cpu_stages) {
  spec_builder b;
  b.spec.run.graphs = graph_mode::frame;
  b.spec.run.strategy = strategy::overlap;
  for (int i = 0; i < 20; ++i) {
    b.stage(fmt::format("s{}", i), "work", {}).with("shape", extents({4}));
  }
  const plan p = plan_of(b);
  EXPECT_EQ(p.streams.size(), 8U);
  EXPECT_EQ(stream_of(p, "s8"), "cpu 0");
}

TEST(frame_graph_plan, has_only_edges_that_a_capture_can_follow) {
  const plan p = two_chains(strategy::overlap);
  for (const planned_stage& stage : p.stages) {
    EXPECT_FALSE(stage.host_waits) << stage.name;
    for (const dependency& wait : stage.waits) {
      const bool same = p.stages[wait.stage].stream == stage.stream;
      EXPECT_EQ(wait.how, same ? satisfied_by::stream_order : satisfied_by::event_wait);
      if (!same) {
        EXPECT_TRUE(p.stages[wait.stage].signals) << p.stages[wait.stage].name;
      }
    }
    if (stage.followers.empty()) {
      EXPECT_TRUE(stage.signals) << stage.name;
    }
  }
}

TEST(frame_graph_plan, leaves_other_graph_modes_without_streams_for_cpu_stages) {
  spec_builder b;
  b.stage("a", "work", {}).with("shape", extents({4}));
  for (const auto mode : {graph_mode::off, graph_mode::stage}) {
    b.spec.run.graphs = mode;
    EXPECT_TRUE(plan_of(b).streams.empty());
  }
}

}  // namespace
}  // namespace graphline::testing
