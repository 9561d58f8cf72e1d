// Steps of networks lowered for `cuda`, and their text in reports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/nn/cuda/cpu_network.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

arguments network_of(const std::string& layers) {
  return read_arguments(network_kind(), "layers:\n" + layers);
}

std::vector<std::string> names_of(const cuda_program& program) {
  std::vector<std::string> names;
  for (const program_part& part : program.parts) names.push_back(part.name);
  return names;
}

template <class Form>
std::vector<Form> kernels_of(const cuda_program& program) {
  std::vector<Form> forms;
  for (const cuda_step& step : program.steps) {
    const auto* kernel = std::get_if<kernel_form>(&step.work);
    if (kernel == nullptr) continue;
    if (const auto* form = std::get_if<Form>(kernel)) forms.push_back(*form);
  }
  return forms;
}

const char* const conv_and_gelu = R"(
  - conv2d: {out_channels: 16, kernel: 3}
  - gelu
)";

TEST(cuda_network, fuses_what_the_library_fuses) {
  reference_library library;
  const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, precision::tf32);
  ASSERT_EQ(library.convolutions.size(), 1U);
  EXPECT_TRUE(library.convolutions[0].conv.bias);
  EXPECT_THAT(library.convolutions[0].before,
              ElementsAre(pointwise_layer{pointwise_function::gelu_erf}));
  EXPECT_TRUE(kernels_of<pointwise_form>(network.program()).empty());
  EXPECT_THAT(names_of(network.program()), ElementsAre("0.conv2d+1.gelu"));
}

TEST(cuda_network, keeps_the_bias_fused_when_only_the_activation_is_refused) {
  reference_library library;
  library.takes_convolution = [](const convolution_form& form) { return form.before.empty(); };
  const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, precision::tf32);
  ASSERT_EQ(library.convolutions.size(), 1U);
  EXPECT_TRUE(library.convolutions[0].conv.bias);
  const auto rest = kernels_of<pointwise_form>(network.program());
  ASSERT_EQ(rest.size(), 1U);
  ASSERT_EQ(rest[0].expression.steps.size(), 1U);
  EXPECT_EQ(rest[0].expression.steps[0].layer.function, pointwise_function::gelu_erf);
  EXPECT_THAT(network.program().parts.at(0).choice,
              HasSubstr("reference loops; gelu by a kernel of its own (the rule refuses this "
                        "convolution)"));
}

/// A convolution and a gelu, lowered with plans that take these nanoseconds with nothing fused,
/// with the bias, and with both. The kernel for the rest takes 2 us, and reads and writes the 1 KiB
/// of the result.
struct timed_fusion {
  explicit timed_fusion(std::vector<nanoseconds> times_by_depth) {
    library.bandwidth = 1e9;  // 4048 ns for the rest
    library.speed_of_convolution = [times = std::move(times_by_depth)](const auto& form) {
      return plan_speed{.tuned = times.at((form.conv.bias ? 1U : 0U) + form.before.size())};
    };
    const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, precision::tf32);
    const auto rest = kernels_of<pointwise_form>(network.program());
    steps_left = rest.empty() ? 0 : rest.at(0).expression.steps.size();
    choice = network.program().parts.at(0).choice;
  }

  reference_library library;
  std::size_t steps_left = 0;
  std::string choice;
};

TEST(cuda_network, fuses_as_much_as_is_fastest_with_the_kernel_for_the_rest) {
  EXPECT_EQ(timed_fusion({5000, 5000, 9000}).steps_left, 0U);
  EXPECT_EQ(timed_fusion({5000, 4900, 9000}).steps_left, 1U);
  EXPECT_EQ(timed_fusion({4800, 4900, 9000}).steps_left, 2U);
  EXPECT_THAT(
      timed_fusion({5000, 4900, 9000}).choice,
      HasSubstr("gelu by a kernel of its own (faster than fused: 8.95 us instead of 9.00 us)"));
}

TEST(cuda_network, plans_no_less_fusion_than_could_be_faster) {
  EXPECT_EQ(timed_fusion({0, 0, 4000}).library.convolutions.size(), 1U);
  EXPECT_EQ(timed_fusion({0, 0, 4100}).library.convolutions.size(), 2U);
}

TEST(cuda_network, without_tuning_plans_nothing_twice_that_runs_on_no_tensor_cores) {
  reference_library library;
  library.speed_of_convolution = [](const convolution_form&) { return plan_speed{}; };
  const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, precision::float16);
  EXPECT_EQ(library.convolutions.size(), 1U);
}

TEST(cuda_network, without_tuning_fuses_as_much_as_runs_on_tensor_cores) {
  for (const auto& [p, steps_left] : std::map<precision, std::size_t>{
           {precision::float32, 0}, {precision::tf32, 1}, {precision::float16, 1}}) {
    reference_library library;
    library.speed_of_convolution = [](const convolution_form& form) {
      const bool rounds = form.precision != precision::float32;
      return plan_speed{.tensor_cores = rounds && form.before.empty()};
    };
    const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, p);
    const auto rest = kernels_of<pointwise_form>(network.program());
    ASSERT_EQ(rest.size(), steps_left == 0 ? 0U : 1U) << to_word(p);
    if (steps_left == 0) continue;
    EXPECT_EQ(rest[0].expression.steps.size(), steps_left);
    EXPECT_THAT(network.program().parts.at(0).choice,
                HasSubstr("(fused, it would not run on tensor cores)"));
  }
}

/// Returns the layout of a float32 convolution whose plans take these nanoseconds. Between
/// row-major tensors, NHWC needs two conversions of 2 us and 2 x 2304 and 2 x 2048 bytes at 1 GB/s.
tensor_layout layout_with(std::optional<nanoseconds> nhwc, std::optional<nanoseconds> nchw,
                          const value_form& around = {},
                          std::optional<tensor_layout> refused = {}) {
  reference_library library;
  library.speed_of_convolution = [&](const convolution_form& form) {
    return plan_speed{.tuned = form.layout == tensor_layout::row_major ? nchw : nhwc};
  };
  library.takes_convolution = [&](const convolution_form& form) { return form.layout != refused; };
  const cpu_network network(network_of("  - conv2d: {out_channels: 32, kernel: 3}\n"),
                            {1, 16, 6, 6}, library, precision::float32, around, around);
  const bool last = (network.conversions() > 0) == (around.layout == tensor_layout::row_major);
  return last ? tensor_layout::channels_last : tensor_layout::row_major;
}

TEST(cuda_network, computes_float32_convolutions_in_the_layout_that_is_faster_with_conversions) {
  constexpr auto nhwc = tensor_layout::channels_last;
  constexpr auto nchw = tensor_layout::row_major;
  const value_form last{nhwc, dtype::float32};
  constexpr nanoseconds conversions = 2 * 2000 + 2 * 2304 + 2 * 2048;
  EXPECT_EQ(layout_with(9000, 9000 + conversions - 1), nchw);
  EXPECT_EQ(layout_with(9000, 9000 + conversions + 1), nhwc);
  EXPECT_EQ(layout_with(9000 + conversions - 1, 9000, last), nhwc);
  EXPECT_EQ(layout_with(9000 + conversions + 1, 9000, last), nchw);
  EXPECT_EQ(layout_with(9000, 9000'000, {}, nhwc), nchw);
  EXPECT_EQ(layout_with(9000'000, 9000, {}, nchw), nhwc);
  // Untuned, only conversions and workspaces count.
  EXPECT_EQ(layout_with({}, 9000'000), nchw);
  EXPECT_EQ(layout_with(9000'000, {}, last), nhwc);
}

TEST(cuda_network, computes_in_nchw_only_in_float32) {
  for (const precision p : {precision::tf32, precision::float16, precision::bfloat16}) {
    reference_library library;
    const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, p);
    EXPECT_EQ(library.convolutions.size(), 1U);
    EXPECT_EQ(library.convolutions.at(0).layout, tensor_layout::channels_last);
  }
}

TEST(cuda_network, without_tuning_counts_the_workspaces_in_which_engines_convert) {
  for (const bool large : {false, true}) {
    reference_library library;
    library.workspace_of = [&](const convolution_form& form) -> std::size_t {
      return large && form.layout == tensor_layout::channels_last ? 1 << 20 : 64;
    };
    const value_form last{tensor_layout::channels_last, dtype::float32};
    const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, precision::float32,
                              last, last);
    EXPECT_EQ(network.conversions(), large ? 2U : 0U);
  }
}

TEST(cuda_network, adds_a_residual_in_the_product_before_the_activation) {
  reference_library library;
  const cpu_network network(network_of(R"(
  - linear: {out_features: 16}
  - add: {from: input}
  - gelu
  - linear: {out_features: 16}
  - gelu
  - add: {from: input}
)"),
                            {2, 16}, library);
  ASSERT_EQ(library.products.size(), 2U);
  EXPECT_TRUE(library.products[0].bias);
  EXPECT_TRUE(library.products[0].add);
  EXPECT_THAT(library.products[0].activations,
              ElementsAre(pointwise_layer{pointwise_function::gelu_erf}));
  EXPECT_FALSE(library.products[1].add);
  EXPECT_THAT(library.products[1].activations,
              ElementsAre(pointwise_layer{pointwise_function::gelu_erf}));
  EXPECT_EQ(kernels_of<pointwise_form>(network.program()).size(), 1U);
}

const char* const two_heads = "  - scaled_dot_product_attention: {heads: 2}\n";

TEST(cuda_network, plans_attention_as_one_operation_in_16_bits_only) {
  for (const auto& [word, p] : precision_words) {
    reference_library library;
    const cpu_network network(network_of(two_heads), {3, 5, 48}, library, p);
    const bool fused = element_bytes(p) == 2;
    ASSERT_EQ(library.attentions.size(), fused ? 1U : 0U) << word;
    EXPECT_EQ(library.products.size(), fused ? 0U : 2U) << word;
    EXPECT_EQ(kernels_of<softmax_form>(network.program()).size(), fused ? 0U : 1U) << word;
    if (!fused) continue;
    EXPECT_EQ(to_text(library.attentions[0]),
              "attention 3x5, 2 heads of 8, " + std::string(to_word(p)));
  }
}

/// Attention takes 10 us; its two products are two calls each, one per head. The softmax takes 2 us
/// and, at 1 GB/s, 960 ns for reading and writing 30 rows of 16 bytes.
TEST(cuda_network, takes_the_products_of_attention_where_they_are_faster) {
  for (const nanoseconds product : {1750, 1770}) {
    reference_library library;
    library.bandwidth = 1e9;
    library.speed_of_product = [&](const auto&) { return plan_speed{.tuned = product}; };
    library.speed_of_attention = [](const auto&) { return plan_speed{.tuned = 10'000}; };
    const cpu_network network(network_of(two_heads), {3, 5, 48}, library, precision::float16);
    const auto softmaxes = kernels_of<softmax_form>(network.program());
    ASSERT_EQ(library.products.size(), 2U);
    EXPECT_EQ(softmaxes.size(), product == 1750 ? 1U : 0U);
  }
}

TEST(cuda_network, names_the_layer_that_the_library_refuses) {
  reference_library library;
  library.takes_product = [](const product_form&) { return false; };
  EXPECT_THAT(
      [&] {
        cpu_network(network_of("  - relu\n  - linear: {out_features: 4}\n"), {2, 3}, library,
                    precision::float16);
      },
      testing::ThrowsMessage<run_error>(testing::StrEq(
          "stage 'trial', layer '1.linear': no implementation in float16 for [2, 3]: the "
          "rule refuses this product; another 'precision' may have one")));
}

TEST(cuda_network, lets_a_first_pool_read_and_a_last_kernel_write_float32_themselves) {
  reference_library library;
  const cpu_network network(network_of(R"(
  - adaptive_avg_pool2d: {output: 1}
  - flatten
  - linear: {out_features: 4}
  - softmax
)"),
                            {2, 3, 8, 8}, library, precision::float16);
  EXPECT_EQ(network.conversions(), 0U);
  const auto pools = kernels_of<pool_form>(network.program());
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_EQ(pools[0].from, dtype::float32);
  EXPECT_EQ(pools[0].to, dtype::float16);
  const auto softmaxes = kernels_of<softmax_form>(network.program());
  ASSERT_EQ(softmaxes.size(), 1U);
  EXPECT_EQ(softmaxes[0].from, dtype::float16);
  EXPECT_EQ(softmaxes[0].to, dtype::float32);
  // A view is not a part.
  EXPECT_THAT(names_of(network.program()),
              ElementsAre("0.adaptive_avg_pool2d", "2.linear", "3.softmax"));
}

TEST(cuda_network, converts_a_value_once_for_all_its_readers) {
  reference_library library;
  const cpu_network network(network_of(R"(
  - conv2d: {out_channels: 8, kernel: 1}
  - add: {from: input}
  - conv2d: {out_channels: 8, kernel: 1}
  - add: {from: input}
)"),
                            {2, 8, 4, 4}, library, precision::bfloat16);
  EXPECT_EQ(network.conversions(), 2U);  // of the input and of the output
}

TEST(cuda_network, needs_no_conversion_between_networks_that_agree_on_channels_last) {
  reference_library library;
  for (const auto& [word, p] : precision_words) {
    const value_form agreed{tensor_layout::channels_last, element_of(p)};
    const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, p, agreed, agreed);
    EXPECT_EQ(network.conversions(), 0U) << word;
  }
}

TEST(cuda_network, moves_elements_of_the_type_that_it_agreed_on) {
  reference_library library;
  const auto bytes = [&](dtype read, dtype written) {
    const auto last = tensor_layout::channels_last;
    const cpu_network network(network_of(conv_and_gelu), {1, 8, 6, 6}, library, precision::float16,
                              {last, read}, {last, written});
    const cost& moved = network.program().parts.at(0).cost;
    return std::pair(moved.bytes_read, moved.bytes_written);
  };
  const auto [read, written] = bytes(dtype::float32, dtype::float32);
  EXPECT_EQ(bytes(dtype::float16, dtype::float32), std::pair(read - 2 * 8 * 6 * 6, written));
  EXPECT_EQ(bytes(dtype::float32, dtype::float16), std::pair(read, written / 2));
}

TEST(cuda_network, pads_the_channels_of_an_image_it_converts_anyway_for_tensor_cores) {
  const auto channels = [](precision p) {
    reference_library library;
    cpu_network(network_of(conv_and_gelu), {1, 3, 6, 6}, library, p);
    return library.convolutions.at(0).in_channels;
  };
  EXPECT_EQ(channels(precision::float32), 3);
  EXPECT_EQ(channels(precision::tf32), 4);
  EXPECT_EQ(channels(precision::float16), 8);
  EXPECT_EQ(channels(precision::bfloat16), 8);
}

const char* const attention_of_three = "  - scaled_dot_product_attention: {heads: 3}\n";

TEST(cuda_network, multiplies_all_heads_of_an_image_or_all_images_of_a_head_at_once) {
  for (const std::int64_t images : {1, 2, 3, 8}) {
    reference_library library;
    const cpu_network network(network_of(attention_of_three), {images, 5, 36}, library);
    ASSERT_EQ(library.products.size(), 2U);
    EXPECT_EQ(library.products[0].batch, std::max<std::int64_t>(images, 3));
    EXPECT_EQ(library.products[1].batch, library.products[0].batch);
    EXPECT_FLOAT_EQ(library.products[0].scale, 0.5F);  // a head has four features
    EXPECT_EQ(library.products[1].scale, 1.0F);
    const auto calls = static_cast<std::size_t>(std::min<std::int64_t>(images, 3));
    EXPECT_EQ(network.program().steps.size(), 2 * calls + 1);
    ASSERT_EQ(network.program().parts.size(), 1U);
    const std::string& choice = network.program().parts[0].choice;
    const std::string product =
        (calls > 1 ? std::to_string(calls) + " calls of " : "") + "reference loops";
    EXPECT_EQ(choice, product +
                          "; softmax by a kernel of its own (fused attention takes float16 and "
                          "bfloat16); " +
                          product);
  }
}

TEST(cuda_network, states_the_alignment_of_attention_heads) {
  const auto alignment = [](const shape& input, precision p) {
    reference_library library;
    library.takes_attention = [](const attention_form&) { return false; };
    cpu_network(network_of(attention_of_three), input, library, p);
    const product_alignment scores = library.products.at(0).alignment;
    return std::array{scores.a, scores.b, scores.d};
  };
  using alignments = std::array<std::size_t, 3>;  // queries, keys, scores
  EXPECT_EQ(alignment({1, 8, 72}, precision::float32), (alignments{16, 16, 16}));
  EXPECT_EQ(alignment({1, 8, 36}, precision::float16), (alignments{16, 8, 16}));
  EXPECT_EQ(alignment({1, 8, 9}, precision::float32), (alignments{16, 4, 16}));
  EXPECT_EQ(alignment({1, 8, 9}, precision::float16), (alignments{16, 2, 16}));
  // Three calls, of a head each, with rows of five scores 16 bytes apart.
  EXPECT_EQ(alignment({4, 5, 72}, precision::float16), (alignments{16, 16, 16}));
}

TEST(cuda_network, normalizes_rows_without_a_conversion_and_writes_what_the_caller_reads) {
  reference_library library;
  const cpu_network network(network_of("  - layer_norm\n  - layer_norm\n"), {2, 5, 8}, library,
                            precision::float16);
  EXPECT_EQ(network.conversions(), 0U);
  const auto norms = kernels_of<layer_norm_form>(network.program());
  ASSERT_EQ(norms.size(), 2U);
  EXPECT_EQ(norms[0].from, dtype::float32);
  EXPECT_EQ(norms[0].to, dtype::float16);
  EXPECT_EQ(norms[1].to, dtype::float32);
  EXPECT_EQ(norms[1].rows, 10);
  EXPECT_EQ(norms[1].extent, 8);
}

/// Builds a network with one input, layer by layer.
class layered_network {
 public:
  explicit layered_network(const tensor_type& input) { last_ = builder_.add_input("x", input); }

  layered_network& add(layer_operation operation, std::vector<std::size_t> inputs = {}) {
    if (inputs.empty()) inputs = {last_};
    diagnostics out;
    layer_problems problems("", place{}, out);
    const std::vector<std::string> givers(inputs.size());
    network_layer layer{
        .name = "l", .kind = "l", .operation = std::move(operation), .inputs = std::move(inputs)};
    last_ =
        builder_.add_layer(std::move(layer), std::vector<std::size_t>{}, givers, problems).value();
    return *this;
  }
  network_definition finish() { return builder_.finish({last_}); }

 private:
  definition_builder builder_;
  std::size_t last_ = 0;
};

TEST(cuda_network, keeps_integers_that_a_16_bit_type_would_round) {
  const network_definition network =
      layered_network({{4}, dtype::int64})
          .add(convert_layer{dtype::int64})
          .add(slice_layer{.begin = {1}, .step = {2}, .extents = {2}})
          .add(pointwise_layer{pointwise_function::relu})
          .finish();
  reference_library library;
  const cuda_program program = lower_network_for_cuda(
      network, weight_table(network, {}),
      {library, precision::float16, "trial", {{tensor_layout::row_major, dtype::int64}}, {{}}});
  const auto kernels = kernels_of<pointwise_form>(program);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_THAT(kernels[0].elements, ElementsAre(dtype::int64, dtype::float32));
  EXPECT_THAT(kernels[1].elements, ElementsAre(dtype::float32, dtype::float32));
}

TEST(cuda_network, sums_squares_that_do_not_fit_into_float16) {
  const network_definition network =
      layered_network(floats({2, 4}))
          .add(pointwise_layer{pointwise_function::mul}, {0, 0})
          .add(reduce_layer{.function = reduce_layer::reduction::mean, .axes = {1}})
          .add(pointwise_layer{pointwise_function::sqrt})
          .finish();
  reference_library library;
  cpu_network lowered(network, {}, library, precision::float16);
  const std::vector<float> result = lowered.run(std::vector<float>(8, 300.0F));
  for (const float root : result) EXPECT_NEAR(root, 300.0F, 0.5F);
}

TEST(cuda_network, swaps_two_dimensions_by_the_tiled_kernel) {
  const auto forms_of = [](const shape& input, std::vector<std::size_t> order) {
    const network_definition network =
        layered_network(floats(input)).add(transpose_layer{std::move(order)}).finish();
    reference_library library;
    cpu_network lowered(network, {}, library);
    return kernels_of<convert_form>(lowered.program());
  };
  const auto heads = forms_of({2, 3, 40, 24}, {0, 1, 3, 2});
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(heads[0].batch, 6);
  EXPECT_EQ(heads[0].rows, 40);
  EXPECT_EQ(heads[0].columns, 24);
  EXPECT_EQ(forms_of({5, 7}, {1, 0}).size(), 1U);
  EXPECT_TRUE(forms_of({2, 3, 4, 5}, {2, 1, 0, 3}).empty());
}

TEST(cuda_network, gives_every_step_to_a_part_and_none_to_two) {
  reference_library library;
  library.takes_convolution = [](const convolution_form& form) { return form.before.empty(); };
  const cpu_network network(network_of(R"(
  - conv2d: {out_channels: 16, kernel: 3}
  - gelu
  - max_pool2d: {kernel: 2}
)"),
                            {1, 3, 8, 8}, library, precision::float16);
  const cuda_program& program = network.program();
  EXPECT_THAT(names_of(program), ElementsAre("0.conv2d+1.gelu", "2.max_pool2d"));
  // Conversion, convolution, gelu; pool and the conversion to what the caller reads.
  EXPECT_EQ(program.parts.at(0).end_steps, 3U);
  EXPECT_EQ(program.parts.at(1).end_steps, 5U);
  EXPECT_EQ(program.steps.size(), 5U);
  EXPECT_THAT(program.parts.at(0).choice,
              testing::StartsWith("conversion to float16 with channels last, 8 of them; "));
  EXPECT_THAT(program.parts.at(1).choice, HasSubstr("; conversion to float32"));
}

}  // namespace

}  // namespace graphline::test
