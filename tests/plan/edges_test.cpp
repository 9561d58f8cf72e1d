#include <gmock/gmock.h>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
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
  // Another stream waits for a; stream order alone takes c to tail.
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

}  // namespace
}  // namespace graphline::testing
