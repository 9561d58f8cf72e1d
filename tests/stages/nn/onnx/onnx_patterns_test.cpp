// Layers that exporters write out in several nodes, against their formulas.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "stages/nn/fusion/fusion.hpp"
#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"

namespace graphline::test {

using namespace nn;
namespace {

using testing::ElementsAre;
using testing::Pointwise;
using testing::StartsWith;

class onnx_patterns : public carried_out {
 protected:
  static std::vector<float> run(const onnx_network& network, const std::vector<float>& x) {
    return on()(network, {x}).front();
  }
};

GRAPHLINE_CARRY_OUT(onnx_patterns);

/// Variants of a written-out layer norm.
struct written_norm {
  std::int64_t axis = -1;
  float eps = 1e-3F;
  bool product = false;  // the square as x * x rather than x ^ 2
  bool second_difference = false;
  bool constants_first = false;
  std::int64_t weights = 6;
};

std::string write_norm(model_text& to, const std::string& x, const written_norm& norm) {
  const auto weight = to.constant({norm.weights}, drawn(static_cast<std::size_t>(norm.weights), 1));
  const auto bias = to.constant({norm.weights}, drawn(static_cast<std::size_t>(norm.weights), 2));
  const auto mean = to.node("ReduceMean", "mean", {x}, {integers("axes", {norm.axis})});
  const auto less = to.node("Sub", "less", {x, mean});
  const auto same = norm.second_difference ? to.node("Sub", "same", {x, mean}) : less;
  const auto square = norm.product ? to.node("Mul", "square", {same, same})
                                   : to.node("Pow", "square", {same, to.constant({}, {2})});
  const auto variance =
      to.node("ReduceMean", "variance", {square}, {integers("axes", {norm.axis})});
  const auto safe = to.node("Add", "safe", {variance, to.constant({}, {norm.eps})});
  const auto root = to.node("Sqrt", "root", {safe});
  const auto unit = to.node("Div", "unit", {less, root});
  if (norm.constants_first) {
    return to.node("Add", "shifted", {bias, to.node("Mul", "scaled", {weight, unit})});
  }
  return to.node("Add", "shifted", {to.node("Mul", "scaled", {unit, weight}), bias});
}

TEST_P(onnx_patterns, a_layer_norm_in_nine_nodes_is_one_layer) {
  const std::vector<float> x = drawn(4 * 6, 3);
  const std::vector<float> weight = drawn(6, 1);
  const std::vector<float> bias = drawn(6, 2);
  for (const written_norm& norm :
       {written_norm{}, written_norm{.product = true}, written_norm{.second_difference = true},
        written_norm{.axis = 2, .eps = 0.5F, .constants_first = true}}) {
    model_text model;
    const onnx_network network = model.network({2, 2, 6}, write_norm(model, "x", norm));
    EXPECT_THAT(layers_of(network),
                ElementsAre("LayerNormalization "
                            "mean+less+square+variance+safe+root+unit+scaled+shifted"));
    std::vector<double> expected;
    for (std::size_t row = 0; row < 4; ++row) {
      double mean = 0;
      double variance = 0;
      for (std::size_t i = 0; i < 6; ++i) mean += static_cast<double>(x[row * 6 + i]) / 6;
      for (std::size_t i = 0; i < 6; ++i) {
        variance += std::pow(static_cast<double>(x[row * 6 + i]) - mean, 2) / 6;
      }
      for (std::size_t i = 0; i < 6; ++i) {
        const double unit = (static_cast<double>(x[row * 6 + i]) - mean) /
                            std::sqrt(variance + static_cast<double>(norm.eps));
        expected.push_back(unit * static_cast<double>(weight[i]) + static_cast<double>(bias[i]));
      }
    }
    EXPECT_THAT(run(network, x), Pointwise(testing::FloatNear(1e-5F), expected));
  }
}

TEST(onnx_patterns_of, similar_nodes_are_not_a_layer_norm) {
  const auto kinds = [](const written_norm& norm, const shape& x) {
    model_text model;
    return layers_of(model.network(x, write_norm(model, "x", norm))).front();
  };
  EXPECT_THAT(kinds({}, {2, 2, 6}), StartsWith("LayerNormalization"));
  EXPECT_EQ(kinds({.axis = 1}, {2, 6, 6}), "ReduceMean mean");
  EXPECT_EQ(kinds({.weights = 1}, {2, 2, 6}), "ReduceMean mean");
}

TEST(onnx_patterns_of, nodes_with_other_readers_stay) {
  model_text model;
  const std::string norm = write_norm(model, "x", {});
  const auto network = model.network({2, 2, 6}, model.node("Add", "both", {norm, "unit"}));
  EXPECT_THAT(
      layers_of(network),
      ElementsAre("ReduceMean mean", "Sub less", "Pow square", "ReduceMean variance", "Add safe",
                  "Sqrt root", "Div unit", StartsWith("LayerNormalization mean+"), "Add both"));
}

// Attention of two images, three tokens, two heads of four features.
constexpr std::int64_t images = 2;
constexpr std::int64_t tokens = 3;
constexpr std::int64_t heads = 2;
constexpr std::int64_t depth = 4;
constexpr std::int64_t features = heads * depth;

/// How exporters extract queries, keys and values, [images, heads, tokens, depth], from one
/// product.
using take_parts = std::vector<std::string> (*)(model_text&);

/// Transposes to [3, images, heads, tokens, depth] and slices.
std::vector<std::string> parts_of_all(model_text& to) {
  const auto apart = to.node("Reshape", {"x", to.constant({0, 0, 3, heads, depth})});
  const auto first = to.node("Transpose", {apart}, {integers("perm", {2, 0, 3, 1, 4})});
  std::vector<std::string> parts;
  for (const std::int64_t which : {0, 1, 2}) {
    const auto sliced =
        to.node("Slice", {first, to.constant({which}), to.constant({which + 1}), to.constant({0})});
    parts.push_back(to.node("Squeeze", {sliced}, {integers("axes", {0})}));
  }
  return parts;
}

/// Slices the last dimension, then transposes.
std::vector<std::string> parts_of_features(model_text& to) {
  std::vector<std::string> parts;
  for (const std::int64_t which : {0, 1, 2}) {
    const auto part = to.node("Slice", {"x", to.constant({which * features}),
                                        to.constant({(which + 1) * features}), to.constant({2})});
    const auto apart = to.node("Reshape", {part, to.constant({images, tokens, heads, depth})});
    parts.push_back(to.node("Transpose", {apart}, {integers("perm", {0, 2, 1, 3})}));
  }
  return parts;
}

struct written_attention {
  take_parts parts = parts_of_all;
  float of_queries = 0.5F;
  float of_keys = 1;
  float divisor = 1;
  std::int64_t axis = -1;
  std::vector<float> mask = {};  // added to the scores of each key
};

std::string write_attention(model_text& to, const written_attention& how) {
  std::vector<std::string> parts = how.parts(to);
  const auto scaled = [&](const std::string& part, float by) {
    return by == 1 ? part : to.node("Mul", {part, to.constant({}, {by})});
  };
  parts[0] = scaled(parts[0], how.of_queries);
  parts[1] =
      scaled(to.node("Transpose", {parts[1]}, {integers("perm", {0, 1, 3, 2})}), how.of_keys);
  auto scores = to.node("MatMul", "scores", {parts[0], parts[1]});
  if (how.divisor != 1) scores = to.node("Div", {scores, to.constant({}, {how.divisor})});
  if (!how.mask.empty()) {
    scores = to.node("Add", "masked", {scores, to.constant({1, 1, 1, tokens}, how.mask)});
  }
  const auto share = to.node("Softmax", "share", {scores}, {integer("axis", how.axis)});
  const auto sum = to.node("MatMul", "sum", {share, parts[2]});
  const auto apart = to.node("Transpose", {sum}, {integers("perm", {0, 2, 1, 3})});
  return to.node("Reshape", {apart, to.constant({images, tokens, features})});
}

std::vector<double> attention_of(const std::vector<float>& x, const std::vector<float>& mask) {
  const auto at = [&](std::int64_t image, std::int64_t token, std::int64_t part, std::int64_t head,
                      std::int64_t i) {
    const std::int64_t row = image * tokens + token;
    return static_cast<double>(
        x[static_cast<std::size_t>(((row * 3 + part) * heads + head) * depth + i)]);
  };
  std::vector<double> result(static_cast<std::size_t>(images * tokens * features));
  for (std::int64_t image = 0; image < images; ++image) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t token = 0; token < tokens; ++token) {
        std::vector<double> weight;
        double sum = 0;
        for (std::int64_t key = 0; key < tokens; ++key) {
          double score = 0;
          for (std::int64_t i = 0; i < depth; ++i) {
            score += at(image, token, 0, head, i) * at(image, key, 1, head, i);
          }
          score /= 2;  // the root of the depth
          if (!mask.empty()) score += static_cast<double>(mask[static_cast<std::size_t>(key)]);
          weight.push_back(std::exp(score));
          sum += weight.back();
        }
        for (std::int64_t key = 0; key < tokens; ++key) {
          for (std::int64_t i = 0; i < depth; ++i) {
            const std::int64_t to = ((image * tokens + token) * heads + head) * depth + i;
            result[static_cast<std::size_t>(to)] +=
                weight[static_cast<std::size_t>(key)] / sum * at(image, key, 2, head, i);
          }
        }
      }
    }
  }
  return result;
}

TEST_P(onnx_patterns, attention_moves_nothing) {
  const std::vector<float> x = drawn(static_cast<std::size_t>(images * tokens * 3 * features), 4);
  const float root = std::sqrt(0.5F);
  for (const written_attention& how :
       {written_attention{}, written_attention{.parts = parts_of_features},
        written_attention{.of_queries = root, .of_keys = root},
        written_attention{.of_queries = 1, .divisor = 2, .axis = 3},
        written_attention{.parts = parts_of_features, .mask = {0.5F, -1, 0}}}) {
    model_text model;
    const onnx_network network =
        model.network({images, tokens, 3 * features}, write_attention(model, how));
    std::vector<testing::Matcher<std::string>> layers{
        StartsWith("MatMul scores"), "Softmax share", StartsWith("MatMul sum+Transpose"),
        StartsWith("Reshape ")};  // which costs nothing
    if (!how.mask.empty()) layers.insert(layers.begin() + 1, "Add masked");
    EXPECT_THAT(layers_of(network), testing::ElementsAreArray(layers));
    EXPECT_THAT(run(network, x), Pointwise(testing::FloatNear(1e-5F), attention_of(x, how.mask)));
  }
}

TEST(onnx_patterns_of, products_count_what_they_read_of_a_value) {
  model_text model;
  const network_definition network =
      model.network({images, tokens, 3 * features}, write_attention(model, {})).definition;
  const std::int64_t part = images * tokens * features * std::int64_t{sizeof(float)};
  const std::int64_t scores = images * heads * tokens * tokens * std::int64_t{sizeof(float)};
  const auto groups = group_layers(network);
  const std::int64_t macs = images * heads * tokens * tokens * depth;
  // The scale of queries counts as in the model.
  EXPECT_EQ(cost_of(network, groups.at(0)).flops, 2 * macs + images * tokens * features);
  EXPECT_EQ(cost_of(network, groups.at(2)).flops, 2 * macs);
  EXPECT_EQ(cost_of(network, groups.at(0)).bytes_read, 2 * part);
  EXPECT_EQ(cost_of(network, groups.at(0)).bytes_written, scores);
  EXPECT_EQ(cost_of(network, groups.at(2)).bytes_read, part + scores);
}

/// Writes [1, 2, 4, 5] padded by one row above and two columns at the right.
std::string write_padded(model_text& to, float value = 0, std::int64_t channels = 0) {
  return to.node("Pad", "pad",
                 {"x", to.constant({0, channels, 1, 0, 0, 0, 0, 2}), to.constant({}, {value})});
}

/// The sums of each 2x3 window of the padded planes, with a weight per element.
std::vector<double> sums_of_windows(const std::vector<float>& x, const std::vector<float>& weight,
                                    std::size_t plane) {
  std::vector<double> sums;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 5; ++column) {
      double sum = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        const std::size_t y = row + i / 3;  // from the padding
        const std::size_t right = column + i % 3;
        if (y < 1 || right >= 5) continue;
        sum += static_cast<double>(x[plane * 20 + (y - 1) * 5 + right]) *
               static_cast<double>(weight[i]);
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

TEST_P(onnx_patterns, convolutions_and_averages_pad_images_themselves) {
  const std::vector<float> x = drawn(2 * 4 * 5, 5);
  model_text model;
  const std::string padded = write_padded(model);
  const auto average = model.network({1, 2, 4, 5}, model.node("AveragePool", "mean", {padded},
                                                              {integers("kernel_shape", {2, 3})}));
  EXPECT_THAT(layers_of(average), ElementsAre("AveragePool pad+mean"));
  std::vector<double> means;
  for (const std::size_t plane : {0U, 1U}) {
    const std::vector<double> sums = sums_of_windows(x, std::vector<float>(6, 1 / 6.0F), plane);
    means.insert(means.end(), sums.begin(), sums.end());
  }
  EXPECT_THAT(run(average, x), Pointwise(testing::FloatNear(1e-6F), means));

  const std::vector<float> weight = drawn(6, 6);
  std::vector<float> first_plane(12);  // the other one has weights of zero
  std::ranges::copy(weight, first_plane.begin());
  model_text other;
  const auto convolution = other.network(
      {1, 2, 4, 5},
      other.node("Conv", "conv", {write_padded(other), other.constant({1, 2, 2, 3}, first_plane)}));
  EXPECT_THAT(layers_of(convolution), ElementsAre("Conv pad+conv"));
  EXPECT_THAT(run(convolution, x),
              Pointwise(testing::FloatNear(1e-6F), sums_of_windows(x, weight, 0)));
}

TEST(onnx_patterns_of, other_paddings_stay) {
  const auto layers = [](const std::string& pool, float value, std::int64_t channels,
                         const std::vector<written::message>& attributes) {
    model_text model;
    return layers_of(model.network(
        {1, 2, 4, 5},
        model.node(pool, "pool", {write_padded(model, value, channels)}, attributes)));
  };
  const auto window = integers("kernel_shape", {2, 3});
  const auto stay = ElementsAre("Pad pad", testing::EndsWith(" pool"));
  EXPECT_THAT(layers("AveragePool", 1, 0, {window}), stay);
  EXPECT_THAT(layers("AveragePool", 0, 1, {window}), stay);
  EXPECT_THAT(layers("AveragePool", 0, 0, {window, integers("pads", {0, 1, 0, 1})}), stay);
  EXPECT_THAT(layers("AveragePool", 0, 0, {integers("kernel_shape", {2, 2})}), stay);
  EXPECT_THAT(layers("MaxPool", 0, 0, {window}), stay);
}

TEST_P(onnx_patterns, bounds_of_one_number_are_fused) {
  const std::vector<float> x = drawn(2 * 3, 7);
  model_text model;
  const auto at_least = model.node("Max", "low", {"x", model.constant({1}, {-0.25F})});
  const auto network =
      model.network({2, 3}, model.node("Min", "high", {at_least, model.constant({}, {0.25F})}));
  std::vector<float> expected;
  for (const float value : x) expected.push_back(std::min(std::max(value, -0.25F), 0.25F));
  EXPECT_EQ(run(network, x), expected);
  for (const network_layer& layer : network.definition.layers) {
    EXPECT_EQ(layer.inputs.size(), 1U);
    EXPECT_EQ(layer.cost.flops, 6);
  }
  model_text other;
  const auto nothing = other.constant({}, {std::nanf("")});
  const auto nan = other.network({2, 3}, other.node("Max", "none", {"x", nothing}));
  EXPECT_THAT(run(nan, x), testing::Each(testing::IsNan()));
}

}  // namespace
}  // namespace graphline::test
