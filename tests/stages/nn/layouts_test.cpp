#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "stages/kinds.hpp"
#include "stages/network_stage.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

using function = pointwise_function;

/// Builds a network with constants. With `apart`, a reshape after each layer keeps every value
/// row-major and every layer in its own group.
class network_trial {
 public:
  network_trial(const shape& input, bool apart)
      : apart_(apart), given_(builder_.add_input("x", floats(input))) {}

  const shape& shape_of(std::size_t value) const { return builder_.network().shape_of(value); }

  std::size_t constant(const shape& extents) {
    const std::vector<float> values = some_values(extents.elements(), constants_.size() + 2);
    named_tensor tensor{"c", floats(extents), {}};
    tensor.data.resize(values.size() * sizeof(float));
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    constants_.push_back(std::move(tensor));
    return builder_.add_constant("c", floats(extents));
  }

  std::size_t add(const char* kind, layer_operation operation, std::vector<std::size_t> inputs,
                  const std::vector<std::size_t>& weights = {}) {
    given_ = add_layer(kind, std::move(operation), std::move(inputs), weights);
    if (apart_) given_ = add_layer("reshape", reshape_layer{shape_of(given_)}, {given_}, {});
    return given_;
  }
  std::size_t add(function of, std::vector<std::size_t> inputs) {
    return add("pointwise", pointwise_layer{of, 0.2F, 0.5F}, std::move(inputs));
  }

  std::size_t conv(std::size_t x, std::int64_t channels, std::int64_t size,
                   std::int64_t groups = 1) {
    const conv2d_layer layer{.out_channels = channels,
                             .kernel = {size, size},
                             .padding = {size / 2, size / 2},
                             .groups = groups};
    return add("conv2d", layer, {x},
               {constant({channels, shape_of(x)[1] / groups, size, size}), constant({channels})});
  }

  std::size_t channels(std::size_t x, std::int64_t begin, std::int64_t count) {
    const shape& s = shape_of(x);
    return add("slice", slice_layer{{0, begin, 0, 0}, {1, 1, 1, 1}, {s[0], count, s[2], s[3]}},
               {x});
  }

  /// Doubles the extents, interpolating.
  std::size_t twice(std::size_t x) {
    const auto along = [&](std::size_t axis) {
      std::vector<resize_position> positions;
      for (std::int64_t i = 0; i < 2 * shape_of(x)[axis]; ++i) {
        positions.push_back({i / 2, std::min(i / 2 + 1, shape_of(x)[axis] - 1), 0.25F});
      }
      return positions;
    };
    return add("resize2d", resize2d_layer{along(2), along(3)}, {x});
  }

  stage_trial trial() {
    const tensor_type input = builder_.network().values[builder_.network().inputs[0]].type;
    const auto network = std::make_shared<const network_definition>(builder_.finish({given_}));
    const auto constants = std::make_shared<const weight_table>(*network, constants_);
    stage_kind kind;
    kind.name = "trial";
    kind.on = side::device;
    kind.inputs = {{"input", ""}};
    kind.outputs = {{"output", ""}};
    kind.prepare = [network, constants](const arguments& values, std::span<const tensor_type>,
                                        diagnostics&) {
      const auto weights = [constants](const stage_config&) { return constants; };
      return prepared_network(network, weights, values, {});
    };
    return {kind, "{}", {input}};
  }

  std::size_t given() const { return given_; }

 private:
  std::size_t add_layer(const char* kind, layer_operation operation,
                        std::vector<std::size_t> inputs, const std::vector<std::size_t>& weights) {
    diagnostics out;
    layer_problems problems("", place{}, out);
    const std::vector<std::string> givers(inputs.size());
    const auto given = builder_.add_layer({.name = kind,
                                           .kind = kind,
                                           .operation = std::move(operation),
                                           .inputs = std::move(inputs)},
                                          weights, givers, problems);
    out.throw_if_errors();
    return given.value();
  }

  definition_builder builder_;
  std::vector<named_tensor> constants_;
  bool apart_;
  std::size_t given_;
};

/// Layers that keep layouts in one network: slices of channels, concats, pools, resizing, and
/// expressions with numbers per channel, constant and computed.
network_trial mixed_network(const shape& input, std::int64_t c, bool apart) {
  network_trial n(input, apart);
  const std::size_t stem = n.conv(n.given(), 2 * c, 3);
  const std::size_t a = n.channels(stem, 0, c);
  const std::size_t b = n.channels(stem, c, c);
  const std::size_t branch = n.add(function::silu, {n.conv(a, c, 3)});
  const std::size_t sum = n.add(function::add, {branch, a});
  const std::size_t deep = n.add(function::hard_swish, {n.conv(b, c, 3, c)});
  const pool2d_layer pool{.kernel = {2, 2}, .stride = {2, 2}};
  const std::size_t small = n.twice(n.add("max_pool2d", pool, {deep}));
  const std::size_t all = n.add("concat", concat_layer{1}, {a, sum, deep, small, a});
  const std::size_t mean = n.add("adaptive_avg_pool2d", adaptive_avg_pool2d_layer{{1, 1}}, {all});
  const std::size_t gate = n.add(function::hard_sigmoid, {n.conv(mean, 5 * c, 1)});
  const std::size_t gated = n.add(function::add, {n.add(function::mul, {all, gate}), all});
  const std::size_t scaled = n.add(function::mul, {gated, n.constant({5 * c, 1, 1})});
  const std::size_t shifted = n.add(function::add, {scaled, n.constant({1, 5 * c, 1, 1})});
  const std::size_t normal = n.add("softmax", softmax_layer{1}, {n.add(function::tanh, {shifted})});
  const std::size_t last = n.conv(normal, c, 1);
  n.add(function::mul, {last, n.add(function::sigmoid, {n.conv(sum, c, 1)})});
  return n;
}

TEST(layouts, change_no_result) {
  for (const std::int64_t batch : {1, 2}) {
    for (const std::int64_t channels : {16, 12, 3}) {
      SCOPED_TRACE(testing::Message() << batch << " of " << channels << " channels");
      const shape input{batch, 3, 10, 14};
      const auto x = some_values(input.elements());
      const auto expected = mixed_network(input, channels, true).trial().run({x});
      EXPECT_LT(difference(mixed_network(input, channels, false).trial().run({x}), expected), 2e-6);
    }
  }
}

std::ptrdiff_t reorders_of(const std::vector<std::string>& operations) {
  return std::ranges::count_if(operations,
                               [](const std::string& name) { return name.starts_with("reorder"); });
}

TEST(layouts, write_the_parts_of_a_concat_in_place) {
  network_trial n({1, 3, 10, 14}, false);
  const std::size_t a = n.conv(n.given(), 16, 3);
  const std::size_t b = n.conv(a, 32, 3);
  n.conv(n.add("concat", concat_layer{1}, {a, b}), 16, 1);
  const auto operations = n.trial().operations();
  // With channels last, as for AVX-512, the parts are not contiguous.
  const bool copied = std::ranges::any_of(
      operations, [](const std::string& name) { return name.starts_with("concat"); });
  EXPECT_TRUE(!copied || reorders_of(operations) <= 2) << testing::PrintToString(operations);
}

TEST(layouts, follow_the_convolutions_on_both_sides) {
  network_trial n({1, 3, 16, 16}, false);
  const std::size_t stem = n.conv(n.given(), 32, 3);
  const std::size_t sum = n.add(function::add, {n.conv(n.conv(stem, 32, 3), 32, 1), stem});
  const std::size_t bent = n.add(function::hard_swish, {sum});
  const std::size_t all = n.add("concat", concat_layer{1}, {n.conv(bent, 16, 1), bent});
  n.conv(n.twice(n.conv(n.channels(all, 16, 16), 16, 3)), 16, 3);
  const auto operations = n.trial().operations();
  EXPECT_LE(reorders_of(operations), 2) << testing::PrintToString(operations);
}

/// Convolutions around functions of each element; `moved` computes these with the channels last, as
/// transformers do.
network_trial with_channels_moved(std::int64_t channels, bool planes, bool moved) {
  network_trial n({2, 3, 6, 5}, false);
  const std::size_t first = n.conv(n.given(), channels, 3);
  const auto transpose = [&](std::size_t x, std::vector<std::size_t> order) {
    return moved ? n.add("transpose", transpose_layer{std::move(order)}, {x}) : x;
  };
  const auto reshape = [&](std::size_t x, const shape& extents) {
    return moved ? n.add("reshape", reshape_layer{extents}, {x}) : x;
  };
  std::size_t y = first;
  if (planes) {
    y = transpose(reshape(y, {2, channels, 30}), {0, 2, 1});
    y = n.add(function::softplus, {y});
    y = reshape(transpose(y, {0, 2, 1}), {2, channels, 6, 5});
  } else {
    y = n.add(function::softplus, {transpose(y, {0, 2, 3, 1})});
    y = transpose(y, {0, 3, 1, 2});
  }
  n.conv(n.add(function::sub, {n.conv(y, channels, 3, channels), first}), 8, 1);
  return n;
}

TEST(layouts, view_transposes_of_the_channels) {
  for (const std::int64_t channels : {16, 12}) {
    for (const bool planes : {false, true}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, planes: " << planes);
      const auto x = some_values(2 * 3 * 6 * 5);
      auto moved = with_channels_moved(channels, planes, true).trial();
      auto kept = with_channels_moved(channels, planes, false).trial();
      EXPECT_LT(difference(moved.run({x}), kept.run({x})), 2e-6);
      const auto operations = moved.operations();
      EXPECT_THAT(operations, testing::Not(testing::Contains(testing::StartsWith("trans"))));
      // To channels last and back, if the convolutions use blocks of channels.
      EXPECT_LE(reorders_of(operations), reorders_of(kept.operations()) + 2);
    }
  }
}

/// Transposes of the input and of a convolution's result; two layers read the latter, of which one
/// is a concat.
TEST(layouts, views_may_be_read_twice_and_be_parts_of_a_concat) {
  constexpr std::int64_t pixels = 4 * 5, channels = 3;
  network_trial moved({1, 4, 5, channels}, false);
  const auto add = [&](std::vector<std::size_t> order, std::size_t x) {
    return moved.add("transpose", transpose_layer{std::move(order)}, {x});
  };
  const std::size_t first = moved.conv(add({0, 3, 1, 2}, moved.given()), channels, 1);
  const std::size_t back = add({0, 2, 3, 1}, first);
  const std::size_t again = add({0, 3, 1, 2}, back);
  const std::size_t all = moved.add("concat", concat_layer{1}, {first, again, again});
  moved.add(function::add, {add({0, 2, 3, 1}, moved.conv(all, 1, 1)), back});

  network_trial kept({1, channels, 4, 5}, false);
  const std::size_t y = kept.conv(kept.given(), channels, 1);
  kept.add(function::add, {kept.conv(kept.add("concat", concat_layer{1}, {y, y, y}), 1, 1), y});

  const auto x = some_values(pixels * channels);
  std::vector<float> x_kept(x.size());
  const auto each = [](auto move) {
    for (std::int64_t p = 0; p < pixels; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) {
        move(static_cast<std::size_t>(p * channels + c), static_cast<std::size_t>(c * pixels + p));
      }
    }
  };
  each([&](std::size_t last, std::size_t plain) { x_kept[plain] = x[last]; });
  const auto expected = kept.trial().run({x_kept});
  auto found = moved.trial().run({x});
  ASSERT_EQ(found.size(), expected.size());
  each([&](std::size_t last, std::size_t plain) {
    EXPECT_NEAR(found[last], expected[plain], 1e-5F) << plain;
  });
}

TEST(products, fold_constants_per_channel_and_leave_the_rest_to_loops) {
  for (const bool transposed : {false, true}) {
    const auto result = [&](bool apart) {
      network_trial n({1, 8, 6, 5}, apart);
      std::size_t y = n.given();
      if (transposed) {
        const conv_transpose2d_layer layer{
            .out_channels = 12, .kernel = {2, 3}, .stride = {2, 2}, .groups = 2};
        y = n.add("conv_transpose2d", layer, {y}, {n.constant({8, 6, 2, 3}), n.constant({12})});
      } else {
        y = n.conv(y, 12, 3);
      }
      y = n.add(function::mul, {y, n.constant({12, 1, 1})});
      y = n.add(function::sub, {n.constant({1, 12, 1, 1}), y});
      y = n.add(function::softplus, {y});
      n.add(function::max, {y, n.constant({1})});
      return n.trial().run({some_values(8 * 6 * 5)});
    };
    EXPECT_LT(difference(result(false), result(true)), 2e-6);
  }
}

/// oneDNN post-operations; one function occurs twice.
const std::vector<pointwise_layer> repeated_functions[] = {
    {{function::leaky_relu, 0.5F}, {function::leaky_relu, 0.1F}},
    {{function::clip, -0.6F, 0.4F}, {function::clip, -0.2F, 0.7F}},
    {{function::elu, 2.0F}, {function::elu, 0.5F}},
    {{function::hard_sigmoid, 0.2F, 0.5F}, {function::linear, -1.0F, 1.0F}},
    {{function::neg}, {function::hard_sigmoid, 0.3F, 0.4F}},
    {{function::leaky_relu, 0.5F},
     {function::linear, 2.0F, 0.1F},
     {function::clip, 0.0F, 0.9F},
     {function::linear, -0.5F, 0.2F},
     {function::leaky_relu, 0.1F}},
};

TEST(products, keep_the_parameters_of_each_of_two_steps_of_one_function) {
  struct product {
    std::int64_t channels;
    std::int64_t kernel;
    std::int64_t groups;
  };
  for (const auto& [channels, kernel, groups] :
       {product{16, 3, 1}, product{13, 1, 1}, product{8, 3, 8}, product{8, 5, 2}}) {
    for (const std::vector<pointwise_layer>& steps : repeated_functions) {
      const auto result = [&, channels = channels, kernel = kernel, groups = groups](bool apart) {
        network_trial n({2, 8, 6, 5}, apart);
        std::size_t y = n.conv(n.given(), channels, kernel, groups);
        for (const pointwise_layer& step : steps) y = n.add("step", step, {y});
        return n.trial().run({some_values(2 * 8 * 6 * 5)});
      };
      EXPECT_LT(difference(result(false), result(true)), 2e-6)
          << channels << " channels, " << kernel << "x" << kernel << " in " << groups << " groups, "
          << traits_of(steps[0].function).name;
    }
  }
}

TEST(products, keep_the_slopes_of_two_leaky_relus_of_a_yaml_network) {
  const auto result = [](const std::string& between) {
    const std::string layers =
        "layers: [{conv2d: {out_channels: 8, kernel: 3, padding: 1}}, {leaky_relu: "
        "{negative_slope: 0.5}}, " +
        between + "{leaky_relu: {negative_slope: 0.1}}]";
    return stage_trial(network_kind(), layers, {floats({1, 8, 6, 5})})
        .run({some_values(8 * 6 * 5)});
  };
  EXPECT_LT(difference(result(""), result("{reshape: {shape: [1, 8, 6, 5]}}, ")), 2e-6);
}

/// Returns a pixel of packed planes; null in the padding.
const float* pixel_at(const std::vector<float>& planes, const shape& images, std::int64_t plane,
                      std::int64_t row, std::int64_t column) {
  if (row < 0 || row >= images[2] || column < 0 || column >= images[3]) return nullptr;
  return &planes.at(static_cast<std::size_t>((plane * images[2] + row) * images[3] + column));
}

TEST(average_pools, of_wide_packed_images_are_means_of_windows) {
  const shape images{1, 2, 3, 1300};
  const auto x = some_values(images.elements());
  struct pool {
    extent_pair kernel;
    extent_pair stride;
    extent_pair padding;
  };
  for (const pool& of : {pool{{3, 3}, {1, 1}, {1, 1}}, pool{{3, 5}, {2, 3}, {1, 2}},
                         pool{{2, 700}, {1, 100}, {0, 0}}, pool{{1, 1300}, {1, 1}, {0, 0}}}) {
    const auto text = [](const extent_pair& two) {
      return fmt::format("[{}, {}]", two[0], two[1]);
    };
    stage_trial trial(network_kind(),
                      fmt::format("layers: [{{avg_pool2d: {{kernel: {}, stride: {}, padding: {}, "
                                  "count_include_pad: false}}}}]",
                                  text(of.kernel), text(of.stride), text(of.padding)),
                      {floats(images)});
    const auto means = trial.run({x});
    const auto extents = [&](std::size_t axis) {
      return (images[axis + 2] + 2 * of.padding[axis] - of.kernel[axis]) / of.stride[axis] + 1;
    };
    ASSERT_EQ(std::ssize(means), images[1] * extents(0) * extents(1));
    std::size_t at = 0;
    for (std::int64_t c = 0; c < images[1]; ++c) {
      for (std::int64_t i = 0; i < extents(0); ++i) {
        for (std::int64_t j = 0; j < extents(1); ++j, ++at) {
          double sum = 0;
          int count = 0;
          for (std::int64_t k = 0; k < of.kernel[0]; ++k) {
            for (std::int64_t l = 0; l < of.kernel[1]; ++l) {
              const float* pixel = pixel_at(x, images, c, i * of.stride[0] - of.padding[0] + k,
                                            j * of.stride[1] - of.padding[1] + l);
              if (pixel == nullptr) continue;
              sum += *pixel;
              ++count;
            }
          }
          ASSERT_NEAR(means[at], sum / count, 1e-6) << of.kernel[1] << " wide, at " << at;
        }
      }
    }
  }
}

TEST(convolutions, with_taps_that_reach_only_padding_are_sums_over_the_others) {
  constexpr std::int64_t channels = 8;
  const shape images{2, channels, 5, 7};
  const auto x = some_values(images.elements());
  struct window {
    extent_pair dilation;
    extent_pair padding;
    extent_pair padding_after;
    extent_pair stride;
  };
  for (const window& of : {window{{6, 6}, {6, 6}, {6, 6}, {1, 1}},
                           {{4, 8}, {4, 8}, {4, 8}, {1, 1}},
                           {{5, 7}, {10, 7}, {0, 7}, {1, 1}},
                           {{5, 3}, {0, 6}, {10, 0}, {1, 2}},
                           {{1, 5}, {1, 5}, {1, 5}, {1, 1}},
                           {{3, 3}, {8, 8}, {8, 8}, {2, 2}}}) {
    const conv2d_layer conv{.out_channels = 4,
                            .kernel = {3, 3},
                            .stride = of.stride,
                            .padding = of.padding,
                            .padding_after = of.padding_after,
                            .dilation = of.dilation};
    network_trial n(images, false);
    const std::size_t weights = n.constant({4, channels, 3, 3});
    const std::size_t bias = n.constant({4});
    n.add("conv2d", conv, {n.given()}, {weights, bias});
    const shape out = n.shape_of(n.given());
    const auto given = n.trial().run({x});
    const auto weight = some_values(4 * channels * 9, 2);
    const auto shift = some_values(4, 3);
    std::size_t at = 0;
    for (std::int64_t image = 0; image < 2; ++image) {
      for (std::int64_t c = 0; c < 4; ++c) {
        for (std::int64_t i = 0; i < out[2]; ++i) {
          for (std::int64_t j = 0; j < out[3]; ++j, ++at) {
            double sum = shift[static_cast<std::size_t>(c)];
            for (std::int64_t tap = 0; tap < channels * 9; ++tap) {
              const float* pixel =
                  pixel_at(x, images, image * channels + tap / 9,
                           i * of.stride[0] - of.padding[0] + tap / 3 % 3 * of.dilation[0],
                           j * of.stride[1] - of.padding[1] + tap % 3 * of.dilation[1]);
              if (pixel == nullptr) continue;
              sum += static_cast<double>(weight[static_cast<std::size_t>(c * channels * 9 + tap)]) *
                     *pixel;
            }
            ASSERT_NEAR(given.at(at), sum, 1e-5) << of.dilation[0] << ", at " << at;
          }
        }
      }
    }
    EXPECT_EQ(at, given.size());
  }
}

}  // namespace

}  // namespace graphline::test
