#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// How `later` waits for `earlier`.
std::string how(const plan& p, const std::string& later, const std::string& earlier) {
  for (const dependency& w : stage_of(p, later).waits) {
    if (p.stages[w.stage].name == earlier) return std::string(to_word(w.how));
  }
  return "not at all";
}

plan mixed_plan() {
  return plan_of(spec_builder()
                     .input("x", {4})
                     .stage("a", "gpu", {"x"})
                     .stage("b", "gpu", {"a"})
                     .stage("c", "gpu", {"a"})
                     .stage("noise", "work", {})
                     .with("shape", extents({4}))
                     .stage("post", "work", {"b", "noise"})
                     .stage("tail", "gpu", {"c"}, {}, {"noise"})
                     .stage("watch", "work", {"noise"}, {}, {"tail"}));
}

TEST(edges, know_what_satisfies_them) {
  const plan p = mixed_plan();
  EXPECT_EQ(how(p, "b", "a"), "stream order");
  EXPECT_EQ(how(p, "c", "a"), "event");
  EXPECT_EQ(how(p, "copy:b", "b"), "event");
  EXPECT_EQ(how(p, "post", "copy:b"), "completion");
  EXPECT_EQ(how(p, "post", "noise"), "return");
  EXPECT_EQ(how(p, "tail", "noise"), "return");
  EXPECT_EQ(how(p, "watch", "tail"), "completion");
  EXPECT_EQ(how(p, "tail", "a"), "not at all");
}

TEST(edges, merge_what_two_stages_share) {
  const plan p = plan_of(
      spec_builder()
          .input("x", {4})
          .stage("find", "detect", {"x"})
          .stage("b", "work", {"find.boxes", "find.scores", "find.boxes"}, {}, {"find", "find"}));
  const planned_stage& b = stage_of(p, "b");
  ASSERT_EQ(b.waits.size(), 1u);
  EXPECT_THAT(b.waits[0].tensors, ElementsAre(b.reads[0], b.reads[1]));
  EXPECT_EQ(b.reads[0], b.reads[2]);
  EXPECT_THAT(tensor_of(p, "find.boxes").consumers, ElementsAre(index_of(p, "b")));
  EXPECT_THAT(stage_of(p, "find").followers, ElementsAre(index_of(p, "b")));
}

TEST(edges, carry_no_tensor_when_made_by_after) {
  const plan p = mixed_plan();
  const planned_stage& watch = stage_of(p, "watch");
  ASSERT_EQ(watch.waits.size(), 2u);
  EXPECT_EQ(p.stages[watch.waits[1].stage].name, "tail");
  EXPECT_THAT(watch.waits[1].tensors, IsEmpty());
}

TEST(edges, say_whose_end_an_event_marks_and_the_host_sees) {
  const plan p = mixed_plan();
  // Another stream waits for a; stream order satisfies the edge from c to tail.
  EXPECT_TRUE(stage_of(p, "a").signals);
  EXPECT_FALSE(stage_of(p, "a").host_waits);
  EXPECT_FALSE(stage_of(p, "c").signals);
  EXPECT_TRUE(stage_of(p, "copy:b").signals);
  EXPECT_TRUE(stage_of(p, "copy:b").host_waits);
  EXPECT_TRUE(stage_of(p, "tail").host_waits);
  EXPECT_FALSE(stage_of(p, "noise").signals);
}

TEST(edges, let_the_frame_end_where_nothing_follows) {
  const plan p =
      plan_of(spec_builder().input("x", {4}).stage("a", "gpu", {"x"}).stage("b", "gpu", {"a"}));
  EXPECT_FALSE(stage_of(p, "a").signals);
  EXPECT_TRUE(stage_of(p, "b").signals);
  EXPECT_TRUE(stage_of(p, "b").host_waits);
}

TEST(edges, reach_through_other_stages) {
  const plan p = mixed_plan();
  const auto reaches = [&](const std::string& a, const std::string& b) {
    return bool{p.reach[index_of(p, a)][index_of(p, b)]};
  };
  EXPECT_TRUE(reaches("a", "post"));
  EXPECT_TRUE(reaches("noise", "watch"));
  EXPECT_TRUE(reaches("a", "watch"));
  EXPECT_FALSE(reaches("b", "c"));
  EXPECT_FALSE(reaches("post", "a"));
  EXPECT_FALSE(reaches("a", "a"));
}

std::vector<std::string> stream_names(const plan& p) {
  std::vector<std::string> names;
  for (const planned_stream& s : p.streams) names.push_back(s.name);
  return names;
}

const planned_stream& stream_of(const plan& p, const std::string& stage) {
  return p.streams[stage_of(p, stage).stream];
}

TEST(streams, are_shared_by_a_chain) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "gpu", {"a"})
                             .stage("c", "gpu", {"b"}));
  EXPECT_THAT(stream_names(p), ElementsAre("stream 0"));
}

TEST(streams, split_where_the_path_does) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "gpu", {"a"})
                             .stage("c", "gpu", {"a"})
                             .stage("join", "gpu", {"b", "c"}));
  EXPECT_THAT(stream_names(p), ElementsAre("stream 0", "stream 1"));
  EXPECT_EQ(stage_of(p, "a").stream, stage_of(p, "b").stream);
  EXPECT_NE(stage_of(p, "b").stream, stage_of(p, "c").stream);
  EXPECT_EQ(stage_of(p, "b").stream, stage_of(p, "join").stream);
}

TEST(streams, keep_priorities_apart) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("a", "gpu", {"x"})
                             .priority(priority::high)
                             .stage("b", "gpu", {"a"})
                             .priority(priority::low));
  EXPECT_EQ(stream_of(p, "a").priority, priority::high);
  EXPECT_EQ(stream_of(p, "b").priority, priority::low);
}

TEST(streams, stay_the_same_without_priorities_but_for_their_level) {
  spec_builder b;
  b.input("x", {4}).stage("a", "gpu", {"x"}).priority(priority::high).stage("b", "gpu", {"a"});
  const plan with = plan_of(b);
  b.spec.run.priorities = false;
  const plan without = plan_of(b);
  EXPECT_EQ(stream_names(with), stream_names(without));
  for (const planned_stream& s : without.streams) EXPECT_EQ(s.priority, priority::normal);
  for (const planned_stage& s : without.stages) EXPECT_EQ(s.priority, priority::normal);
}

TEST(streams, carry_copies_apart_by_direction) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4}, side::cpu)
                             .stage("a", "gpu", {"x"})
                             .stage("post", "work", {"a"})
                             .stage("again", "copy", {"a"})
                             .stage("more", "work", {"again"}));
  EXPECT_EQ(stream_of(p, "copy:x").name, "copy in");
  EXPECT_EQ(stream_of(p, "copy:a").name, "copy out");
  EXPECT_EQ(stream_of(p, "again").name, "copy out");
  EXPECT_TRUE(stream_of(p, "again").copies);
  EXPECT_FALSE(stream_of(p, "a").copies);
}

TEST(streams, are_absent_from_a_pipeline_of_cpu_stages) {
  EXPECT_THAT(plan_of(spec_builder().input("x", {4}).stage("a", "work", {"x"})).streams, IsEmpty());
}

TEST(streams, are_at_most_eight_and_evenly_used) {
  spec_builder b;
  b.input("x", {4}, side::cpu);
  for (std::size_t i = 0; i < 20; ++i) b.stage(numbered(i), "gpu", {"x"});
  const plan p = plan_of(b);
  ASSERT_EQ(p.streams.size(), 8u);
  std::vector<int> load(8, 0);
  for (const planned_stage& s : p.stages) ++load[s.stream];
  // One stream for the copy, seven for 20 stages.
  std::sort(load.begin(), load.end());
  EXPECT_THAT(load, ElementsAre(1, 2, 3, 3, 3, 3, 3, 3));
}

TEST(streams, are_kept_back_for_a_priority_that_comes_late) {
  spec_builder b;
  b.input("x", {4});
  for (std::size_t i = 0; i < 20; ++i) b.stage(numbered(i), "gpu", {"x"});
  b.stage("urgent", "gpu", {"x"}).priority(priority::high);
  const plan p = plan_of(b);
  EXPECT_EQ(p.streams.size(), 8u);
  EXPECT_EQ(stream_of(p, "urgent").priority, priority::high);
  for (const planned_stage& s : p.stages) {
    EXPECT_EQ(p.streams[s.stream].priority, s.priority) << s.name;
  }
}

/// Independent CPU chains `a` -> `b` and `c` -> `d`, and a device stage that joins them.
plan two_chains(strategy how) {
  spec_builder b;
  b.spec.run.graphs = graph_mode::frame;
  b.spec.run.strategy = how;
  b.stage("a", "work", {}).with("shape", extents({4}));
  b.stage("c", "work", {}).with("shape", extents({4}));
  b.stage("b", "work", {"a"}).stage("d", "work", {"c"}).stage("join", "gpu", {"b", "d"});
  return plan_of(b);
}

TEST(frame_graph_plan, keeps_cpu_stages_in_declared_order_under_async) {
  const plan p = two_chains(strategy::async);
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(stream_of(p, name).name, "cpu");
  EXPECT_EQ(std::count_if(p.streams.begin(), p.streams.end(), [](auto& s) { return s.calls; }), 1);
}

TEST(frame_graph_plan, orders_cpu_stages_by_their_edges_alone_under_overlap) {
  const plan p = two_chains(strategy::overlap);
  EXPECT_EQ(stream_of(p, "a").name, "cpu 0");
  EXPECT_EQ(stream_of(p, "b").name, "cpu 0");
  EXPECT_EQ(stream_of(p, "c").name, "cpu 1");
  EXPECT_EQ(stream_of(p, "d").name, "cpu 1");
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
  EXPECT_EQ(stream_of(p, "s8").name, "cpu 0");
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
}  // namespace graphline::plan_testing
