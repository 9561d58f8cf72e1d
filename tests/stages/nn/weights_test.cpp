#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/weights/network_weights.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<named_tensor> weights_of(const std::string& yaml, const shape& input,
                                     std::uint64_t seed = 1) {
  const stage_kind kind = network_kind();
  return prepare(kind, yaml, {floats(input)})
      .weights({.name = "trial",
                .arguments = read_arguments(kind, yaml),
                .inputs = {floats(input)},
                .outputs = {},
                .seed = seed});
}

std::vector<float> values_of(const named_tensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

/// The largest magnitude, which is near the bound if there are many.
double bound_of(const named_tensor& tensor) {
  double most = 0;
  for (const float value : values_of(tensor)) most = std::max(most, std::abs(double{value}));
  return most;
}

MATCHER_P(just_within, bound, "") {
  return arg <= bound * 1.000001 && arg >= bound * 0.97;
}

TEST(network_weights, have_the_names_of_a_state_dict) {
  const auto weights = weights_of(R"(
layers:
  - conv2d: {out_channels: 4, kernel: 3, name: stem}
  - batch_norm2d
  - flatten
  - linear: {out_features: 2, bias: false}
)",
                                  {1, 3, 5, 5});
  std::vector<std::string> names;
  for (const named_tensor& weight : weights) names.push_back(weight.name);
  EXPECT_THAT(names, ElementsAre("stem.weight", "stem.bias", "1.weight", "1.bias", "1.running_mean",
                                 "1.running_var", "3.weight"));
  EXPECT_EQ(weights[0].type, floats({4, 3, 3, 3}));
  EXPECT_EQ(values_of(weights[5]), std::vector<float>(4, 1.0F));
}

TEST(network_weights, are_drawn_within_the_bound_of_their_fan_in) {
  const auto weights = weights_of("layers: [linear: {out_features: 50}]", {1, 100});
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_THAT(bound_of(weights[0]), just_within(std::sqrt(3.0 / 100)));
  EXPECT_LE(bound_of(weights[1]), 0.1F);
  EXPECT_GT(bound_of(weights[1]), 0.08);
  // A kernel of 2 x 2 with stride 2 meets each output once.
  const auto transposed = weights_of(
      "layers: [conv_transpose2d: {out_channels: 40, kernel: 2, stride: 2}]", {1, 12, 9, 9});
  EXPECT_THAT(bound_of(transposed[0]), just_within(std::sqrt(3.0 / 12)));
}

TEST(network_weights, compensate_for_the_rectifier_that_follows) {
  const auto bounds = [](const std::string& after) {
    const auto weights =
        weights_of("layers: [conv2d: {out_channels: 40, kernel: 3, bias: false}, " + after + "]",
                   {1, 9, 9, 9});
    return bound_of(weights[0]);
  };
  const double plain = std::sqrt(3.0 / 81);
  const double rectified = std::sqrt(6.0 / 81);
  for (const char* after :
       {"relu", "relu6", "gelu", "silu", "batch_norm2d, relu", "hardswish", "mish", "leaky_relu"}) {
    EXPECT_THAT(bounds(after), just_within(rectified)) << after;
  }
  for (const char* after : {"sigmoid", "flatten", "batch_norm2d", "softmax, relu", "tanh"}) {
    EXPECT_THAT(bounds(after), just_within(plain)) << after;
  }
}

TEST(network_weights, depend_on_the_seed_and_their_name_only) {
  const auto once =
      weights_of("layers: [linear: {out_features: 5}, linear: {out_features: 5}]", {1, 5});
  const auto again = weights_of("layers: [linear: {out_features: 5}]", {1, 5});
  const auto other = weights_of("layers: [linear: {out_features: 5}]", {1, 5}, 2);
  EXPECT_EQ(once[0].data, again[0].data);
  EXPECT_NE(once[0].data, once[2].data);
  EXPECT_NE(once[0].data, other[0].data);
}

TEST(network_weights, are_the_same_numbers_on_every_machine) {
  // std::mt19937_64 starts with 14514284786278117030 for seed 5489: its upper 53 bits, scaled to
  // [-1, 1].
  std::vector<float> drawn(1);
  draw_uniform(drawn, 1.0, 5489);
  const double unit = static_cast<double>(14514284786278117030ULL >> 11) / 9007199254740992.0;
  EXPECT_EQ(drawn[0], static_cast<float>(2.0 * unit - 1.0));
}

TEST(network_weights, come_from_a_file_when_there_is_one) {
  const auto weights = weights_of("{layers: [linear: {out_features: 7}], weights: " +
                                      reference_file("weights/linear.safetensors") + "}",
                                  {3, 10});
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].name, "0.weight");
  const auto values = values_of(weights[0]);
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), 60U);
}

/// The check's messages for a network on [3, 10], one per line.
std::string check_problem(const std::string& layers, const std::string& file) {
  return problems_of(network_kind(),
                     "layers:\n" + layers + "weights: " + reference_file("weights/" + file) + "\n",
                     {floats({3, 10})});
}

TEST(network_weights, in_a_file_are_checked_per_layer) {
  EXPECT_EQ(check_problem("  - linear: {out_features: 7}\n", "linear.safetensors"), "");
  EXPECT_THAT(check_problem("  - relu\n  - linear: {out_features: 8, name: fc}\n"
                            "  - linear: {out_features: 7, name: fc2}\n",
                            "linear.safetensors"),
              AllOf(StartsWith("5:10: weights file '"), HasSubstr("has none of the tensors")));
  const std::string wrong = check_problem(
      "  - linear: {out_features: 8}\n  - linear: {out_features: 2}\n", "linear.safetensors");
  EXPECT_THAT(wrong, AllOf(HasSubstr("2:5: weights file"),
                           HasSubstr("'0.weight': expected F32 [8, 10], found F32 [7, 10]"),
                           HasSubstr("'0.bias': expected F32 [8], found F32 [7]"),
                           HasSubstr("3:5: weights file"), HasSubstr("has no tensor '1.weight'"),
                           HasSubstr("has no tensor '1.bias'")));
  EXPECT_THAT(check_problem("  - linear: {out_features: 7, bias: false}\n", "linear.safetensors"),
              AllOf(StartsWith("3:10: weights file"),
                    HasSubstr("holds '0.bias', which no layer of the network has")));
  EXPECT_THAT(check_problem("  - relu\n", "linear.safetensors"),
              HasSubstr("holds '0.bias', '0.weight', which no layer of the network has"));
}

}  // namespace

}  // namespace graphline::test
