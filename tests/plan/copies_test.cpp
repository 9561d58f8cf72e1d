#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
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

TEST(inserted_copies, need_a_kind_copy_that_moves) {
  const spec_builder on_both_sides =
      spec_builder().input("x", {4}).stage("net", "gpu", {"x"}).stage("post", "work", {"net"});
  EXPECT_THAT(errors_of(on_both_sides, {}, false),
              ElementsAre("'net' lives on the device and stage 'post' reads it on the cpu, which "
                          "takes a copy, but the program's registry has no kind 'copy' that moves "
                          "between the sides"));
  EXPECT_THAT(errors_of(spec_builder().input("x", {4}).stage("net", "gpu", {"x"}), {}, false),
              IsEmpty());
  stage_registry registry = test_registry(false);
  registry.add(same_kind("copy", side::device));
  diagnostics out;
  make_plan(on_both_sides.spec, registry, {}, out);
  EXPECT_THAT(messages(out, severity::error), ElementsAre(HasSubstr("no kind 'copy' that moves")));
}

constexpr tensor_layout rows = tensor_layout::row_major;
constexpr tensor_layout channels_last = tensor_layout::channels_last;

plan plan_for(const std::string& backend, const spec_builder& b) {
  return plan_of(b.spec, {.backend = backend});
}

/// x -> a -> b, both by image_nets.
spec_builder two_nets(const shape& x) {
  return spec_builder().input("x", x).stage("a", "image_net", {"x"}).stage("b", "image_net", {"a"});
}

TEST(forms, are_channels_last_between_stages_that_both_take_it) {
  const plan p = plan_for("cuda", two_nets({1, 3, 4, 4}));
  EXPECT_EQ(tensor_of(p, "a").layout, channels_last);
  EXPECT_THAT(stage_of(p, "a").config.output_layouts, ElementsAre(channels_last));
  EXPECT_THAT(stage_of(p, "b").config.input_layouts, ElementsAre(channels_last));
}

TEST(forms, of_what_comes_in_and_goes_out_are_row_major) {
  const plan p = plan_for("cuda", two_nets({1, 3, 4, 4}));
  EXPECT_THAT(stage_of(p, "a").config.input_layouts, ElementsAre(rows));
  EXPECT_THAT(stage_of(p, "b").config.output_layouts, ElementsAre(rows));
}

TEST(forms, are_row_major_where_a_single_reader_knows_no_other) {
  const plan p = plan_for("cuda", spec_builder()
                                      .input("x", {1, 3, 4, 4})
                                      .stage("a", "image_net", {"x"})
                                      .stage("b", "image_net", {"a"})
                                      .stage("c", "gpu", {"a"})
                                      .stage("d", "image_net", {"c"}));
  EXPECT_EQ(tensor_of(p, "a").layout, rows);
  EXPECT_EQ(tensor_of(p, "c").layout, rows);
}

TEST(forms, are_row_major_where_a_cpu_stage_reads_a_copy) {
  const plan p = plan_for("cuda", spec_builder()
                                      .input("x", {1, 3, 4, 4})
                                      .stage("a", "image_net", {"x"})
                                      .stage("b", "image_net", {"a"})
                                      .stage("c", "work", {"a"}));
  EXPECT_EQ(tensor_of(p, "a").layout, rows);
}

TEST(forms, are_row_major_on_other_backends_and_for_other_ranks) {
  const plan host = plan_for("host", two_nets({1, 3, 4, 4}));
  EXPECT_EQ(tensor_of(host, "a").layout, rows);
  const plan flat = plan_for("cuda", two_nets({4, 4}));
  EXPECT_EQ(tensor_of(flat, "a").layout, rows);
}

/// a -> b and c, by image_nets that compute in these types.
plan plan_of_types(const std::string& a, const std::string& b, const std::string& c,
                   const std::string& backend = "cuda") {
  return plan_for(backend, spec_builder()
                               .input("x", {1, 3, 4, 4})
                               .stage("a", "image_net", {"x"})
                               .with("inside", a)
                               .stage("b", "image_net", {"a"})
                               .with("inside", b)
                               .stage("c", "image_net", {"a"})
                               .with("inside", c));
}

TEST(forms, have_the_type_in_which_all_stages_at_a_tensor_compute) {
  const plan p = plan_of_types("float16", "float16", "float16");
  const tensor_type half{{1, 3, 4, 4}, dtype::float16};
  const tensor_type whole{{1, 3, 4, 4}, dtype::float32};
  EXPECT_EQ(tensor_of(p, "a").type, half);
  EXPECT_THAT(stage_of(p, "a").config.inputs, ElementsAre(whole));
  EXPECT_THAT(stage_of(p, "a").config.outputs, ElementsAre(half));
  EXPECT_THAT(stage_of(p, "b").config.inputs, ElementsAre(half));
  EXPECT_THAT(stage_of(p, "b").config.outputs, ElementsAre(whole));
}

TEST(forms, follow_the_readers_of_a_stage_that_writes_any_type) {
  const auto type_read_by = [](const std::string& b, const std::string& c) {
    return tensor_of(plan_of_types("any", b, c), "a").type.element;
  };
  EXPECT_EQ(type_read_by("bfloat16", "bfloat16"), dtype::bfloat16);
  EXPECT_EQ(type_read_by("float32", "float32"), dtype::float32);
  EXPECT_EQ(type_read_by("float16", "bfloat16"), dtype::float32);
  EXPECT_EQ(type_read_by("float16", "float32"), dtype::float32);
}

TEST(forms, are_float32_where_a_single_stage_computes_in_another_type) {
  for (const plan& p : {plan_of_types("float16", "float16", "bfloat16"),
                        plan_of_types("float32", "float16", "float16"),
                        plan_of_types("float16", "float16", "float16", "host")}) {
    EXPECT_EQ(tensor_of(p, "a").type.element, dtype::float32);
  }
}

}  // namespace
}  // namespace graphline::plan_testing
