#include <gmock/gmock.h>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  // One for the copy; 20 stages on the other seven.
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

}  // namespace
}  // namespace graphline::testing
