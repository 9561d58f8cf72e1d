#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "stages/nn/operations/pointwise.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

// What each layer does, as plain checked values: the result of reading a layer and all that a
// backend needs to know of it. Meanings are PyTorch's; two-dimensional values are {height, width}.
// Where nothing is said, a layer reads x alone.

using extent_pair = std::array<std::int64_t, 2>;

/// Reads x, weight [out_channels, in_channels / groups, height, width] and, with one, bias.
struct conv2d_layer {
  std::int64_t out_channels = 0;
  extent_pair kernel{};
  extent_pair stride{1, 1};
  extent_pair padding{0, 0};                   ///< on both sides, or
  std::optional<extent_pair> padding_after{};  ///< so much after it
  extent_pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

/// Reads x, weight [out_features, in_features] and, with one, bias.
struct linear_layer {
  std::int64_t out_features = 0;
  bool bias = true;
  bool any_rank = false;  ///< else of [N, features] or [N, tokens, features] alone
};

enum class activation { relu, relu6, gelu_erf, gelu_tanh, sigmoid, silu };

inline constexpr word<activation> activation_words[] = {
    {"relu", activation::relu},         {"relu6", activation::relu6},
    {"gelu_erf", activation::gelu_erf}, {"gelu_tanh", activation::gelu_tanh},
    {"sigmoid", activation::sigmoid},   {"silu", activation::silu}};

}  // namespace graphline::nn

template <>
struct graphline::words_of<graphline::nn::activation> {
  static constexpr const auto& table = graphline::nn::activation_words;
};

namespace graphline::nn {

struct activation_layer {
  activation function = activation::relu;
};

struct softmax_layer {
  std::int64_t dim = -1;  ///< negative ones count from the last
};

/// Reads x, then for each channel weight, bias, mean and variance.
struct batch_norm2d_layer {
  double eps = 1e-5;
};

/// Reads x, weight and bias, of the last dimension.
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
  extent_pair padding{0, 0};                   ///< on both sides, or
  std::optional<extent_pair> padding_after{};  ///< so much after it
  extent_pair dilation{1, 1};
  bool count_include_pad = true;  ///< of average pools
  bool ceil_mode = false;
};

struct adaptive_avg_pool2d_layer {
  extent_pair output{};
};

struct flatten_layer {
  std::int64_t start_dim = 1;  ///< negative ones count from the last
};

/// Reads x and what is added to it, of the same shape.
struct add_layer {};

/// Reads x, weight [in_channels, out_channels / groups, height, width] and, with one, bias.
struct conv_transpose2d_layer {
  std::int64_t out_channels = 0;
  extent_pair kernel{};
  extent_pair stride{1, 1};
  extent_pair padding{0, 0};        ///< rows and columns of the result left out before
  extent_pair padding_after{0, 0};  ///< and after it; negative ones are zeros added
  extent_pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

/// Reads a [..., m, k] and b [..., k, n], whose first extents are broadcast as in NumPy, and gives
/// their product times a number. The matrices lie row by row in what is read and given, or where a
/// reader found them once it had the shapes: then their extents are not those of the values.
struct matmul_layer {
  std::optional<strided_matrices> a = {};
  std::optional<strided_matrices> b = {};
  std::optional<strided_matrices> product = {};
  float scale = 1;
};

/// Reads one value or more, which it joins along one dimension.
struct concat_layer {
  std::size_t axis = 0;
};

/// The elements begin, begin + step, ... along each dimension.
struct slice_layer {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> step;  ///< may be negative
  shape extents;                   ///< how many along each
};

/// Elements of one value before and after those of x along each dimension.
struct pad_layer {
  float value = 0;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
};

/// Dimension i of what it gives is dimension order[i] of x.
struct transpose_layer {
  std::vector<std::size_t> order;
};

/// The same elements in another shape.
struct reshape_layer {
  shape extents;
};

/// x broadcast to a shape as in NumPy.
struct expand_layer {
  shape extents;
};

struct reduce_layer {
  enum class reduction { sum, mean, max, min, product };
  reduction function = reduction::mean;
  std::vector<std::size_t> axes;
  bool keep_dims = true;
};

/// What a position along one dimension of a resized value is made of: the two elements around it,
/// of which the second weighs so much.
struct resize_position {
  std::int64_t first = 0;
  std::int64_t second = 0;
  float weight = 0;
};

/// Of [N, C, height, width], one dimension after the other.
struct resize2d_layer {
  std::vector<resize_position> rows;
  std::vector<resize_position> columns;
};

/// Elements of those numbers along one dimension.
struct gather_layer {
  std::size_t axis = 0;
  std::vector<std::int64_t> indices;
};

/// Reads x and whole numbers of any shape: the elements of x of those numbers along one dimension,
/// whose place the dimensions of the numbers take. Negative ones count from the end; beyond both
/// ends the first and the last element are taken.
struct take_layer {
  std::size_t axis = 0;
};

/// Reads numbers of another type: int32, int64 or uint8. From 2^24 on float32 rounds them.
struct convert_layer {
  dtype from = dtype::int32;
};

/// Reads x [steps, batch, features], the hidden and the cell state before it, both [directions,
/// batch, hidden], then weight_ih [directions, 4 hidden, features], weight_hh [directions, 4
/// hidden, hidden] and bias [directions, 4 hidden], each of the input, forget, cell and output gate
/// in this order. Gives the hidden state of each step [steps, batch, directions * hidden], then the
/// hidden and the cell state after it.
struct lstm_layer {
  enum class direction { forward, backward, both };
  direction way = direction::forward;
  std::int64_t hidden = 0;
};

using layer_operation =
    std::variant<conv2d_layer, linear_layer, activation_layer, softmax_layer, batch_norm2d_layer,
                 layer_norm_layer, attention_layer, pool2d_layer, adaptive_avg_pool2d_layer,
                 flatten_layer, add_layer, pointwise_layer, conv_transpose2d_layer, matmul_layer,
                 concat_layer, slice_layer, pad_layer, transpose_layer, reshape_layer, expand_layer,
                 reduce_layer, resize2d_layer, gather_layer, take_layer, convert_layer, lstm_layer>;

}  // namespace graphline::nn
