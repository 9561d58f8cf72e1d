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

TEST(layouts, are_channels_last_between_stages_that_both_take_it) {
  const plan p = plan_for("cuda", spec_builder()
                                      .input("x", {1, 3, 4, 4})
                                      .stage("a", "image_net", {"x"})
                                      .stage("b", "image_net", {"a"}));
  EXPECT_EQ(tensor_of(p, "a").layout, channels_last);
  EXPECT_THAT(stage_of(p, "a").config.output_layouts, ElementsAre(channels_last));
  EXPECT_THAT(stage_of(p, "b").config.input_layouts, ElementsAre(channels_last));
}

TEST(layouts, of_what_comes_in_and_goes_out_are_row_major) {
  const plan p = plan_for("cuda", spec_builder()
                                      .input("x", {1, 3, 4, 4})
                                      .stage("a", "image_net", {"x"})
                                      .stage("b", "image_net", {"a"}));
  EXPECT_THAT(stage_of(p, "a").config.input_layouts, ElementsAre(rows));
  EXPECT_THAT(stage_of(p, "b").config.output_layouts, ElementsAre(rows));
}

TEST(layouts, are_row_major_where_a_single_reader_knows_no_other) {
  const plan p = plan_for("cuda", spec_builder()
                                      .input("x", {1, 3, 4, 4})
                                      .stage("a", "image_net", {"x"})
                                      .stage("b", "image_net", {"a"})
                                      .stage("c", "gpu", {"a"})
                                      .stage("d", "image_net", {"c"}));
  EXPECT_EQ(tensor_of(p, "a").layout, rows);
  EXPECT_EQ(tensor_of(p, "c").layout, rows);
}

TEST(layouts, are_row_major_where_a_cpu_stage_reads_a_copy) {
  const plan p = plan_for("cuda", spec_builder()
                                      .input("x", {1, 3, 4, 4})
                                      .stage("a", "image_net", {"x"})
                                      .stage("b", "image_net", {"a"})
                                      .stage("c", "work", {"a"}));
  EXPECT_EQ(tensor_of(p, "a").layout, rows);
}

TEST(layouts, are_row_major_on_other_backends_and_for_other_ranks) {
  const plan host = plan_for("host", spec_builder()
                                         .input("x", {1, 3, 4, 4})
                                         .stage("a", "image_net", {"x"})
                                         .stage("b", "image_net", {"a"}));
  EXPECT_EQ(tensor_of(host, "a").layout, rows);
  const plan flat = plan_for("cuda", spec_builder()
                                         .input("x", {4, 4})
                                         .stage("a", "image_net", {"x"})
                                         .stage("b", "image_net", {"a"}));
  EXPECT_EQ(tensor_of(flat, "a").layout, rows);
}

}  // namespace
}  // namespace graphline::testing
