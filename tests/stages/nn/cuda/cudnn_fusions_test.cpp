// Fusions that cuDNN offers for GPUs that need not be present. These are the graphs that networks
// run; where a case has no candidates, `plan` returns null and the network is split.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/nn/cuda/cuda_library.hpp"
#include "tests/stages/nn/cuda/cudnn_offers.hpp"

namespace graphline::nn {
namespace {

using activations = std::vector<pointwise_layer>;

const std::vector<std::string> every_device = {"a100", "l4", "h200", "b200", "rtx5090"};
const activations every_activation = {
    {pointwise_function::relu},        {pointwise_function::clip, 0, 6},
    {pointwise_function::clip, -1, 1}, {pointwise_function::gelu_erf},
    {pointwise_function::gelu_tanh},   {pointwise_function::hard_sigmoid, 0.2F, 0.5F},
    {pointwise_function::hard_swish},  {pointwise_function::linear, 1.5F, -0.5F},
    {pointwise_function::sigmoid},     {pointwise_function::silu}};

/// Skipped without cuDNN.
class cudnn_fusions : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why_not = why_no_cudnn(); !why_not.empty()) GTEST_SKIP() << why_not;
  }

  static std::vector<cudnn_candidate> offered(const convolution_form& form,
                                              const std::string& device) {
    std::string why_not;
    std::vector<cudnn_candidate> candidates =
        offered_candidates(form, device_properties_of(device), why_not);
    EXPECT_EQ(candidates.empty(), !why_not.empty());
    return candidates;
  }

  /// Every device has candidates in every precision, and none for float32 rounds its operands.
  static void expect_offered(convolution_form form) {
    for (const std::string& device : every_device) {
      for (const auto& [word, p] : precision_words) {
        form.precision = p;
        const std::vector<cudnn_candidate> candidates = offered(form, device);
        EXPECT_FALSE(candidates.empty()) << device << ", " << to_text(form);
        if (p != precision::float32) continue;
        for (const cudnn_candidate& candidate : candidates) {
          EXPECT_FALSE(candidate.tensor_cores) << device << ", " << candidate.name;
        }
      }
    }
  }
};

convolution_form convolution(std::int64_t in_channels, std::int64_t side, std::int64_t out_channels,
                             std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1) {
  convolution_form form;
  form.batch = 32;
  form.in_channels = in_channels;
  form.in = {side, side};
  const std::int64_t padding = kernel / 2;
  const std::int64_t out = (side + 2 * padding - kernel) / stride + 1;
  form.out = {out, out};
  form.conv.out_channels = out_channels;
  form.conv.kernel = {kernel, kernel};
  form.conv.stride = {stride, stride};
  form.conv.padding = {padding, padding};
  form.conv.groups = groups;
  return form;
}

/// With one more row and column of padding on one side, as in "same" padding.
convolution_form padded(convolution_form form, bool after) {
  extent_pair& before = form.conv.padding;
  form.conv.padding_after = after ? before : extent_pair{before[0] - 1, before[1] - 1};
  if (after) before = {before[0] - 1, before[1] - 1};
  form.out = {(form.in[0] + before[0] + (*form.conv.padding_after)[0] - form.conv.kernel[0]) /
                      form.conv.stride[0] +
                  1,
              (form.in[1] + before[1] + (*form.conv.padding_after)[1] - form.conv.kernel[1]) /
                      form.conv.stride[1] +
                  1};
  return form;
}

convolution_form with(convolution_form form, activations before, bool add = false,
                      activations after = {}) {
  form.before = std::move(before);
  form.add = add;
  form.after = std::move(after);
  return form;
}

// pipelines/two_models.yaml at 224 x 224
const convolution_form first = convolution(3, 224, 512, 3, 2);
const convolution_form second = convolution(512, 112, 1024, 3, 2);
// a residual network's
const convolution_form residual = convolution(64, 56, 64, 3, 1);
const convolution_form pointwise = convolution(256, 56, 64, 1, 1);
const convolution_form depthwise = convolution(256, 56, 256, 3, 1, 256);

TEST_F(cudnn_fusions, hold_every_activation_after_both_convolutions_of_two_models) {
  for (const pointwise_layer& layer : every_activation) {
    expect_offered(with(first, {layer}));
    expect_offered(with(second, {layer}));
  }
}

TEST_F(cudnn_fusions, hold_less_and_more_than_that_too) {
  convolution_form bare = second;
  bare.conv.bias = false;
  for (const convolution_form& form :
       {bare, with(bare, {pointwise_layer{pointwise_function::gelu_erf}}),
        with(residual, {}, true, {pointwise_layer{pointwise_function::relu}}),
        with(residual, {pointwise_layer{pointwise_function::gelu_erf}}, true,
             {pointwise_layer{pointwise_function::gelu_erf}}),
        depthwise, with(pointwise, {pointwise_layer{pointwise_function::relu}}),
        with(depthwise, {pointwise_layer{pointwise_function::relu}})}) {
    expect_offered(form);
  }
}

TEST_F(cudnn_fusions, take_other_padding_after_an_image_than_before_it) {
  for (const bool after : {false, true}) {
    expect_offered(padded(residual, after));
    expect_offered(with(padded(second, after), {pointwise_layer{pointwise_function::silu}}));
  }
}

TEST_F(cudnn_fusions, do_without_tensor_cores_only_for_float32) {
  for (const std::string& device : every_device) {
    for (const precision p : {precision::tf32, precision::float16, precision::bfloat16}) {
      for (const pointwise_layer& layer : every_activation) {
        convolution_form form = with(second, {layer});
        form.precision = p;
        const std::vector<cudnn_candidate> candidates = offered(form, device);
        ASSERT_FALSE(candidates.empty());
        EXPECT_TRUE(candidates.front().tensor_cores) << device << ", " << to_text(form);
      }
    }
  }
}

TEST_F(cudnn_fusions, hold_attention_in_16_bits_on_tensor_cores) {
  for (const std::string& device : every_device) {
    for (const precision p : {precision::float16, precision::bfloat16}) {
      for (const std::int64_t depth : {32, 64, 128}) {
        const attention_form form{
            .batch = 8, .tokens = 197, .heads = 12, .depth = depth, .precision = p};
        std::string why_not;
        const auto candidates = offered_candidates(form, device_properties_of(device), why_not);
        ASSERT_FALSE(candidates.empty()) << device << ", " << to_text(form) << ": " << why_not;
        EXPECT_TRUE(candidates.front().tensor_cores) << device << ", " << to_text(form);
      }
    }
  }
}

TEST_F(cudnn_fusions, refuse_attention_of_other_depths_with_a_reason) {
  const attention_form form{
      .batch = 1, .tokens = 5, .heads = 3, .depth = 12, .precision = precision::float16};
  std::string why_not;
  EXPECT_TRUE(offered_candidates(form, device_properties_of("h200"), why_not).empty());
  EXPECT_THAT(why_not, ::testing::HasSubstr("multiple of 8"));
}

TEST_F(cudnn_fusions, are_refused_with_a_reason_in_one_line) {
  convolution_form form = with(depthwise, {pointwise_layer{pointwise_function::gelu_erf}});
  form.precision = precision::bfloat16;
  std::string why_not;
  EXPECT_TRUE(offered_candidates(form, device_properties_of("h200"), why_not).empty());
  EXPECT_FALSE(why_not.empty());
  EXPECT_THAT(why_not, ::testing::Not(::testing::HasSubstr("\n")));
  EXPECT_LT(why_not.size(), 500U);
}

}  // namespace
}  // namespace graphline::nn
