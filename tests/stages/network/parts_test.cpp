#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

TEST(network_parts, are_the_layers_computed_as_one_and_tell_what_carries_them_out) {
  stage_trial trial(network_kind(), R"(
layers:
  - conv2d: {out_channels: 16, kernel: 3, name: stem}
  - batch_norm2d
  - relu
  - flatten
  - linear: {out_features: 4}
)",
                    {floats({1, 16, 8, 8})});
  const auto part = [](const std::string& name, const std::string& content) {
    return AllOf(Field(&stage_part::name, name),
                 Field(&stage_part::choice, AllOf(StartsWith("oneDNN "), HasSubstr(content))));
  };
  // What flatten does, bringing the elements in order, is a part where it is work at all.
  const auto parts = trial.parts();
  EXPECT_THAT(parts.front(), part("stem+1.batch_norm2d+2.relu", "conv2d+bias+batch_norm2d+relu ["));
  EXPECT_THAT(parts.back(), part("4.linear", "linear+bias ["));
}

TEST(network_parts, are_marked_in_their_order_without_changing_the_result) {
  stage_trial trial(network_kind(), R"(
layers:
  - conv2d: {out_channels: 8, kernel: 3}
  - max_pool2d: {kernel: 2}
  - silu
)",
                    {floats({1, 3, 8, 8})});
  const auto input = some_values(3 * 8 * 8);
  const auto whole = trial.run({input});
  trial.poison();
  EXPECT_EQ(trial.enqueue_in_parts(), trial.parts().size());
  trial.wait();
  EXPECT_EQ(trial.output(), whole);
}

TEST(network_parts, have_attention_as_one_with_its_three_operations) {
  stage_trial trial(network_kind(), R"(
layers:
  - layer_norm
  - linear: {out_features: 72}
  - scaled_dot_product_attention: {heads: 3}
  - linear: {out_features: 24}
  - add: {from: input}
)",
                    {floats({2, 9, 24})});
  const auto parts = trial.parts();
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[2].name, "2.scaled_dot_product_attention");
  EXPECT_THAT(parts[2].choice,
              AllOf(HasSubstr("scores ["), HasSubstr(", softmax ["), HasSubstr(", attention [")));
  ASSERT_TRUE(parts[2].cost);
  EXPECT_EQ(parts[2].cost->bytes_read, 4 * 2 * 9 * 72);
  EXPECT_EQ(parts[3].name, "3.linear+4.add");
}

TEST(network_parts, say_that_the_host_computes_in_float32_whatever_was_asked_for) {
  stage_trial trial(network_kind(), "{layers: [relu], precision: bfloat16, tune: off}",
                    {floats({4, 4})});
  EXPECT_THAT(trial.parts(), ElementsAre(Field(&stage_part::choice,
                                               HasSubstr("in float32, host has no bfloat16"))));
}

TEST(matmul_parts, are_one_that_names_the_implementation) {
  stage_trial trial(matmul_kind(), "{precision: tf32}", {floats({4, 4}), floats({4, 4})});
  EXPECT_THAT(trial.parts(),
              ElementsAre(Field(&stage_part::choice, AllOf(StartsWith("oneDNN matmul ["),
                                                           HasSubstr("host has no tf32")))));
  EXPECT_EQ(trial.enqueue_in_parts(), 1U);
  trial.wait();
}

}  // namespace

}  // namespace graphline::test
