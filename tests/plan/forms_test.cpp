#include <gmock/gmock.h>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::ElementsAre;

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

TEST(forms, are_float32_where_a_single_stage_computes_in_another_type) {
  for (const plan& p : {plan_of_types("float16", "float16", "bfloat16"),
                        plan_of_types("float32", "float16", "float16"),
                        plan_of_types("float16", "float16", "float16", "host")}) {
    EXPECT_EQ(tensor_of(p, "a").type.element, dtype::float32);
  }
}

}  // namespace
}  // namespace graphline::testing
