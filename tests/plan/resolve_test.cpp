#include <gmock/gmock.h>

#include "framework/base/random.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(planner, names_the_only_output_after_its_stage) {
  const plan p = plan_of(spec_builder().input("x", {4}).stage("a", "gpu", {"x"}));
  EXPECT_EQ(tensor_of(p, "a").type.shape, (shape{4}));
  EXPECT_TRUE(tensor_of(p, "a").output());
}

TEST(planner, names_each_of_several_outputs_after_stage_and_port) {
  const plan p = plan_of(spec_builder().input("x", {4}).stage("find", "detect", {"x"}));
  EXPECT_EQ(tensor_of(p, "find.boxes").type.shape, (shape{10, 4}));
  EXPECT_EQ(tensor_of(p, "find.scores").type.shape, (shape{10}));
}

TEST(planner, accepts_a_stage_that_writes_nothing) {
  const plan p = plan_of(spec_builder().input("x", {4}).stage("end", "sink", {"x"}));
  EXPECT_THAT(stage_of(p, "end").writes, IsEmpty());
}

TEST(planner, passes_types_and_a_seed_of_the_stage_name_on) {
  spec_builder b;
  b.input("x", {4}).stage("a", "gpu", {"x"}).with("shape", extents({2, 3}));
  b.stage("b", "gpu", {"a"});
  b.spec.run.seed = 7;
  const plan p = plan_of(b);
  const stage_config& config = stage_of(p, "b").config;
  EXPECT_EQ(config.name, "b");
  EXPECT_THAT(config.inputs, ElementsAre(tensor_type{{2, 3}, dtype::float32}));
  EXPECT_THAT(config.outputs, ElementsAre(tensor_type{{2, 3}, dtype::float32}));
  EXPECT_EQ(config.seed, mix_seed(7, seed_from("b")));
}

TEST(planner, keeps_what_the_user_declared) {
  spec_builder b;
  b.input("x", {4}).stage("a", "gpu", {"x"});
  b.spec.description = "words";
  b.spec.parameters = {{"batch", "1"}};
  b.spec.run.in_flight = 3;
  const plan p = plan_of(b);
  EXPECT_EQ(p.pipeline, "tested");
  EXPECT_EQ(p.description, "words");
  EXPECT_EQ(p.parameters, b.spec.parameters);
  EXPECT_EQ(p.run.in_flight, 3);
}

TEST(planner, reads_optional_inputs_with_and_without_them) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("one", "detect", {"x"})
                             .stage("two", "detect", {"x", "x"}));
  EXPECT_EQ(stage_of(p, "one").config.inputs.size(), 1u);
  EXPECT_EQ(stage_of(p, "two").config.inputs.size(), 2u);
}

/// Names the ports of the last stage.
spec_builder& by_name(spec_builder& b, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  stage_spec& s = b.spec.stages.back();
  for (const std::string& port : inputs) s.read_ports.push_back({port, {}});
  for (const std::string& port : outputs) s.write_ports.push_back({port, {}});
  return b;
}

TEST(planner, puts_what_is_read_and_written_by_name_into_the_order_of_the_kind) {
  spec_builder b;
  b.input("x", {4}).input("y", {5}).stage("find", "detect", {"x", "y"}, {"rated"});
  const plan p = plan_of(by_name(b, {"mask", "image"}, {"scores"}));
  EXPECT_THAT(stage_of(p, "find").config.inputs,
              ElementsAre(tensor_type{{5}, dtype::float32}, tensor_type{{4}, dtype::float32}));
  EXPECT_EQ(tensor_of(p, "find.boxes").type.shape, (shape{10, 4}));
  EXPECT_EQ(tensor_of(p, "rated").type.shape, (shape{10}));
}

TEST(planner, lets_an_optional_input_be_left_out_by_name) {
  spec_builder b;
  b.input("x", {4}).stage("find", "detect", {"x"});
  EXPECT_EQ(stage_of(plan_of(by_name(b, {"image"}, {})), "find").config.inputs.size(), 1u);
}

TEST(planner, knows_the_ports_that_arguments_make) {
  spec_builder b;
  b.input("x", {4}).stage("a", "ported", {"x"}, {"y"}).with("ports", "left");
  const plan p = plan_of(by_name(b, {"left"}, {"left"}));
  EXPECT_EQ(tensor_of(p, "y").type.shape, (shape{4}));
}

TEST(planner, asks_for_a_name_where_a_port_has_none_that_a_tensor_could_have) {
  spec_builder b;
  b.input("x", {4}).stage("a", "ported", {"x", "x"}).with("ports", node::sequence({"b/c", "d"}));
  EXPECT_THAT(errors_of(b),
              ElementsAre("stage 'a' must name its output 'b/c': writes: {b/c: NAME}"));
}

TEST(planner, refuses_a_pipeline_without_stages) {
  EXPECT_THAT(errors_of(spec_builder()), ElementsAre("pipeline 'tested' has no stages"));
}

TEST(stage_order, is_the_declared_one_where_edges_allow) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("c", "gpu", {"x"})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "gpu", {"c"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("c", "a", "b"));
}

TEST(stage_order, moves_a_stage_only_behind_what_it_needs) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("late", "gpu", {"z"})
                             .stage("first", "gpu", {"x"})
                             .stage("maker", "gpu", {"first"}, {"z"})
                             .stage("last", "gpu", {"x"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("first", "maker", "late", "last"));
}

TEST(stage_order, follows_after) {
  const plan p = plan_of(
      spec_builder().input("x", {4}).stage("a", "gpu", {"x"}, {}, {"b"}).stage("b", "gpu", {"x"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("b", "a"));
}

}  // namespace
}  // namespace graphline::plan_testing
