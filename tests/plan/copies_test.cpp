#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(inserted_copies, serve_all_readers_on_the_other_side_with_one) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("net", "gpu", {"x"})
                             .stage("one", "work", {"net"})
                             .stage("two", "work", {"net"})
                             .stage("head", "gpu", {"net"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("net", "copy:net", "one", "two", "head"));
  const planned_stage& copy = stage_of(p, "copy:net");
  EXPECT_TRUE(copy.inserted);
  EXPECT_EQ(copy.on, side::device);
  EXPECT_EQ(copy.kind->name, "copy");
  const planned_tensor& copied = tensor_of(p, "net@cpu");
  EXPECT_EQ(copied.on, side::cpu);
  EXPECT_EQ(copied.type, tensor_of(p, "net").type);
  EXPECT_THAT(copied.consumers, ElementsAre(index_of(p, "one"), index_of(p, "two")));
  EXPECT_THAT(tensor_of(p, "net").consumers,
              ElementsAre(index_of(p, "copy:net"), index_of(p, "head")));
}

TEST(inserted_copies, are_under_way_during_cpu_work_before_their_reader) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("net", "gpu", {"x"})
                             .stage("noise", "work", {})
                             .with("shape", extents({4}))
                             .stage("post", "work", {"net", "noise"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("net", "copy:net", "noise", "post"));
}

TEST(inserted_copies, are_absent_where_no_side_is_crossed) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "gpu", {"a"})
                             .input("y", {4})
                             .stage("c", "work", {"y"})
                             .stage("d", "work", {"c"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("a", "b", "c", "d"));
}

TEST(inserted_copies, bring_an_input_to_the_device_in_every_frame) {
  const plan p = plan_of(
      spec_builder().input("x", {4}, side::cpu).stage("a", "gpu", {"x"}).stage("b", "gpu", {"x"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("copy:x", "a", "b"));
  EXPECT_TRUE(tensor_of(p, "x").input);
  EXPECT_EQ(tensor_of(p, "x").on, side::cpu);
  EXPECT_THAT(tensor_of(p, "x").consumers, ElementsAre(0u));
  EXPECT_FALSE(tensor_of(p, "x@device").input);
  EXPECT_EQ(tensor_of(p, "x@device").on, side::device);
}

TEST(inserted_copies, are_as_urgent_as_the_stages_they_serve) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4}, side::cpu)
                             .stage("a", "gpu", {"x"})
                             .priority(priority::low)
                             .stage("b", "gpu", {"x"})
                             .priority(priority::high));
  EXPECT_EQ(stage_of(p, "copy:x").priority, priority::high);
  EXPECT_EQ(p.streams[stage_of(p, "copy:x").stream].priority, priority::high);
}

TEST(inserted_copies, make_their_stream_as_urgent_as_the_most_urgent_of_them) {
  for (const auto& [first, second] : {std::pair{priority::low, priority::high},
                                      {priority::high, priority::low},
                                      {priority::low, priority::normal}}) {
    const plan p = plan_of(spec_builder()
                               .input("x", {4}, side::cpu)
                               .input("y", {4}, side::cpu)
                               .stage("a", "gpu", {"x"})
                               .priority(first)
                               .stage("b", "gpu", {"y"})
                               .priority(second));
    EXPECT_EQ(stage_of(p, "copy:x").priority, first);
    EXPECT_EQ(stage_of(p, "copy:y").priority, second);
    ASSERT_EQ(stage_of(p, "copy:x").stream, stage_of(p, "copy:y").stream);
    const planned_stream& copies = p.streams[stage_of(p, "copy:x").stream];
    EXPECT_EQ(copies.priority, std::min(first, second)) << copies.name;
  }
}

TEST(inputs, live_where_they_are_read_first) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .input("y", {4})
                             .stage("a", "work", {"x"})
                             .stage("b", "gpu", {"x", "y"}));
  EXPECT_EQ(tensor_of(p, "x").on, side::cpu);
  EXPECT_EQ(tensor_of(p, "y").on, side::device);
  EXPECT_THAT(names_of(p.stages), ElementsAre("copy:x", "a", "b"));
}

TEST(declared_copies, read_where_the_tensor_is_and_write_the_other_side) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("up", "copy", {"x"}, {"on_device"})
                             .stage("net", "gpu", {"on_device"})
                             .stage("down", "copy", {"net"}, {"on_cpu"})
                             .stage("post", "work", {"on_cpu"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("up", "net", "down", "post"));
  EXPECT_EQ(tensor_of(p, "x").on, side::cpu);
  EXPECT_EQ(tensor_of(p, "on_device").on, side::device);
  EXPECT_EQ(tensor_of(p, "on_cpu").on, side::cpu);
  EXPECT_FALSE(stage_of(p, "up").inserted);
  EXPECT_EQ(stage_of(p, "up").on, side::device);
}

TEST(inserted_copies, need_the_kind_copy) {
  EXPECT_THAT(
      errors_of(
          spec_builder().input("x", {4}).stage("net", "gpu", {"x"}).stage("post", "work", {"net"}),
          {}, false),
      ElementsAre("'net' lives on the device and stage 'post' reads it on the cpu, which "
                  "takes a copy, but the program's registry has no kind 'copy'; register "
                  "the built-in kinds"));
  EXPECT_THAT(errors_of(spec_builder().input("x", {4}).stage("net", "gpu", {"x"}), {}, false),
              IsEmpty());
}

TEST(inserted_copies, need_a_kind_copy_that_moves) {
  stage_registry registry = test_registry(false);
  registry.add(same_kind("copy", side::device));
  const spec_builder b =
      spec_builder().input("x", {4}).stage("net", "gpu", {"x"}).stage("post", "work", {"net"});
  diagnostics out;
  make_plan(b.spec, registry, {}, out);
  EXPECT_THAT(messages(out, severity::error), ElementsAre(HasSubstr("does not say that it moves")));
}

}  // namespace
}  // namespace graphline::testing
