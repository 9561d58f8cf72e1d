#include <gmock/gmock.h>

#include "framework/base/random.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST(planner, suggests_the_tensor_that_was_meant) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("image", {4})
                            .stage("a", "gpu", {"image"}, {"features"})
                            .stage("head", "gpu", {"featurs"})),
              ElementsAre("stage 'head' reads 'featurs', which nothing writes (did you mean "
                          "'features'?)"));
}

TEST(planner, says_what_a_stage_writes_when_the_stage_is_read) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("image", {4})
                            .stage("find", "detect", {"image"})
                            .stage("b", "work", {"find"})),
              ElementsAre("stage 'b' reads 'find', which nothing writes (stage 'find' writes "
                          "'find.boxes', 'find.scores')"));
}

TEST(planner, refuses_to_write_twice_or_what_is_there_or_to_read_its_own) {
  const auto with_x = [] { return spec_builder().input("x", {4}); };
  EXPECT_THAT(errors_of(with_x().stage("a", "gpu", {"x"}, {"y"}).stage("b", "gpu", {"x"}, {"y"})),
              ElementsAre("stage 'b' writes 'y', which stage 'a' already writes"));
  EXPECT_THAT(errors_of(with_x().stage("a", "detect", {"x"}, {"y", "y"})),
              ElementsAre("stage 'a' writes 'y' twice"));
  EXPECT_THAT(errors_of(with_x().stage("a", "gpu", {"x"}, {"x"})),
              ElementsAre("stage 'a' writes 'x', which is an input of the pipeline; name one of "
                          "them differently"));
  EXPECT_THAT(errors_of(spec_builder().stage("a", "gpu", {"y"}, {"y"})),
              ElementsAre("stage 'a' reads 'y', which it writes itself"));
}

TEST(planner, refuses_two_stages_or_inputs_of_one_name) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x", {4})
                            .input("x", {4})
                            .stage("a", "gpu", {"x"})
                            .stage("a", "work", {"x"})),
              ElementsAre("there is another stage 'a'; stage names must differ",
                          "there is another input 'x'; input names must differ"));
}

TEST(planner, keeps_the_names_of_inserted_copies_for_itself) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x@cpu", {4})
                            .input("x", {4})
                            .stage("copy:x", "gpu", {"x"}, {"y@device"})),
              ElementsAre(HasSubstr("start with 'copy:'"), HasSubstr("input 'x@cpu'"),
                          HasSubstr("stage 'copy:x': tensor names that end in '@cpu'")));
}

TEST(planner, names_ports_and_counts_when_too_much_or_too_little_is_read) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x", {4, 4})
                            .stage("a", "flat", {"x", "x"})
                            .stage("b", "flat", {})
                            .stage("c", "detect", {"x", "x", "x"})),
              ElementsAre("stage 'a' reads 2 tensors, but kind 'flat' reads 1: x",
                          "stage 'b' reads 0 tensors, but kind 'flat' reads 1: x",
                          "stage 'c' reads 3 tensors, but kind 'detect' reads 1 to 2: image, "
                          "mask"));
}

TEST(planner, names_ports_and_counts_when_too_much_or_too_little_is_written) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x", {4})
                            .stage("a", "detect", {"x"}, {"only"})
                            .stage("b", "sink", {"x"}, {"y"})),
              ElementsAre("stage 'a' names 1 tensor to write, but kind 'detect' writes 2: boxes, "
                          "scores",
                          "stage 'b' names 1 tensor to write, but kind 'sink' writes 0: nothing"));
}

TEST(planner, reads_optional_inputs_with_and_without_them) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("one", "detect", {"x"})
                             .stage("two", "detect", {"x", "x"}));
  EXPECT_EQ(stage_of(p, "one").config.inputs.size(), 1u);
  EXPECT_EQ(stage_of(p, "two").config.inputs.size(), 2u);
}

TEST(planner, suggests_the_kind_that_was_meant) {
  EXPECT_THAT(errors_of(spec_builder().input("x", {4}).stage("a", "detct", {"x"})),
              ElementsAre("unknown kind 'detct' (did you mean 'detect'?)"));
}

TEST(planner, says_on_which_devices_a_kind_runs) {
  const spec_builder b = spec_builder().input("x", {4}).stage("a", "cuda_only", {"x"});
  EXPECT_THAT(errors_of(b),
              ElementsAre("kind 'cuda_only' cannot run on the device 'host'; it runs on: cuda"));
  EXPECT_THAT(errors_of(b, {.backend = "cuda"}), IsEmpty());
}

TEST(planner, checks_arguments_by_the_kinds_parameters) {
  EXPECT_THAT(errors_of(spec_builder().input("x", {4}).stage("a", "gpu", {"x"}).with("sape", 3)),
              ElementsAre(HasSubstr("'sape'")));
}

TEST(planner, refuses_to_run_after_itself_a_tensor_or_nothing_known) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x", {4})
                            .stage("back", "gpu", {"x"}, {"y"})
                            .stage("b", "gpu", {"x"}, {}, {"b"})
                            .stage("c", "gpu", {"x"}, {}, {"bakc"})
                            .stage("d", "gpu", {"x"}, {}, {"y"})),
              ElementsAre("stage 'b' cannot run after itself",
                          "stage 'c' is to run after 'bakc', which is no stage (did you mean "
                          "'back'?)",
                          "stage 'd' is to run after 'y', which is no stage (the tensor 'y' is "
                          "written by stage 'back')"));
}

TEST(planner, warns_of_an_input_that_nobody_reads) {
  const spec_builder b = spec_builder().input("x", {4}).input("y", {4}).stage("a", "gpu", {"x"});
  diagnostics out;
  const plan p = make_plan(b.spec, lasting_registry(), {}, out);
  EXPECT_FALSE(out.has_errors());
  EXPECT_THAT(messages(out, severity::warning), ElementsAre("no stage reads the input 'y'"));
}

TEST(planner, refuses_a_pipeline_without_stages) {
  EXPECT_THAT(errors_of(spec_builder()), ElementsAre("pipeline 'tested' has no stages"));
}

TEST(planner, reports_independent_problems_together_and_their_consequences_not_at_all) {
  EXPECT_THAT(
      errors_of(spec_builder()
                    .input("x", {4})
                    .stage("typo", "gpuu", {"x"})
                    .stage("behind_typo", "flat", {"typo"})
                    .stage("wrong", "flat", {"x"})
                    .stage("behind_wrong", "flat", {"wrong"})
                    .stage("also_wrong", "flat", {"x"})),
      ElementsAre(HasSubstr("unknown kind 'gpuu'"), "flat takes [rows, columns], but reads [4]",
                  "flat takes [rows, columns], but reads [4]"));
}

}  // namespace
}  // namespace graphline::testing
