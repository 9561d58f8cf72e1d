#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "framework/base/words.hpp"

namespace graphline {

// What each layer does, as plain checked values: the result of reading a layer and all that a
// backend needs to know of it. Meanings are PyTorch's; two-dimensional values are {height, width}.

using extent_pair = std::array<std::int64_t, 2>;

struct conv2d_layer {
  std::int64_t out_channels = 0;
  extent_pair kernel{};
  extent_pair stride{1, 1};
  extent_pair padding{0, 0};
  extent_pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

struct linear_layer {
  std::int64_t out_features = 0;
  bool bias = true;
};

enum class activation { relu, relu6, gelu_erf, gelu_tanh, sigmoid, silu };

inline constexpr word<activation> activation_words[] = {
    {"relu", activation::relu},         {"relu6", activation::relu6},
    {"gelu_erf", activation::gelu_erf}, {"gelu_tanh", activation::gelu_tanh},
    {"sigmoid", activation::sigmoid},   {"silu", activation::silu}};
template <>
struct words_of<activation> {
  static constexpr const auto& table = activation_words;
};

struct activation_layer {
  activation function = activation::relu;
};

struct softmax_layer {
  std::int64_t dim = -1;  ///< negative ones count from the last
};

struct batch_norm2d_layer {
  double eps = 1e-5;
};

struct layer_norm_layer {
  double eps = 1e-5;
};

/// Of queries, keys and values that lie after each other in the last dimension, and in each of them
/// one head after the other.
struct attention_layer {
  std::int64_t heads = 1;
};

enum class pooling { max, average };

struct pool2d_layer {
  pooling method = pooling::max;
  extent_pair kernel{};
  extent_pair stride{};
  extent_pair padding{0, 0};
  extent_pair dilation{1, 1};     ///< of max pools
  bool count_include_pad = true;  ///< of average pools
  bool ceil_mode = false;
};

struct adaptive_avg_pool2d_layer {
  extent_pair output{};
};

struct flatten_layer {
  std::int64_t start_dim = 1;  ///< negative ones count from the last
};

struct add_layer {
  std::string from;  ///< name of an earlier layer, or "input"
};

using layer_operation =
    std::variant<conv2d_layer, linear_layer, activation_layer, softmax_layer, batch_norm2d_layer,
                 layer_norm_layer, attention_layer, pool2d_layer, adaptive_avg_pool2d_layer,
                 flatten_layer, add_layer>;

}  // namespace graphline
