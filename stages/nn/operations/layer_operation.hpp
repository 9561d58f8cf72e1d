#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/operations/pointwise.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

// Operations of layers as plain, checked values that contain all that a backend needs. Meanings are
// PyTorch's; pairs are {height, width}. Unless a comment names other inputs, a layer reads x.

using extent_pair = std::array<std::int64_t, 2>;

/// Reads x, weight [out_channels, in_channels / groups, height, width] and bias if `bias`.
struct conv2d_layer {
  std::int64_t out_channels = 0;
  extent_pair kernel{};
  extent_pair stride{1, 1};
  extent_pair padding{0, 0};  ///< on both sides unless `padding_after` is set
  std::optional<extent_pair> padding_after{};
  extent_pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

/// Reads x, weight [out_features, in_features] and bias if `bias`.
struct linear_layer {
  std::int64_t out_features = 0;
  bool bias = true;
  bool any_rank = false;  ///< if false: [N, features] or [N, tokens, features]
};

struct softmax_layer {
  std::int64_t dim = -1;  ///< negative values count from the end
};

/// Reads x, then per channel weight, bias, mean and variance.
struct batch_norm2d_layer {
  double eps = 1e-5;
};

/// Reads x, and a weight and a bias with the size of the last dimension.
struct layer_norm_layer {
  double eps = 1e-5;
};

/// Self-attention. Reads [N, tokens, 3 dim]: queries, keys and values side by side in the last
/// dimension, each with its heads side by side.
struct attention_layer {
  std::int64_t heads = 1;
};

enum class pooling { max, average };

struct pool2d_layer {
  pooling method = pooling::max;
  extent_pair kernel{};
  extent_pair stride{};
  extent_pair padding{0, 0};  ///< on both sides unless `padding_after` is set
  std::optional<extent_pair> padding_after{};
  extent_pair dilation{1, 1};
  bool count_include_pad = true;  ///< average pools only
  bool ceil_mode = false;
};

struct adaptive_avg_pool2d_layer {
  extent_pair output{};
};

/// Reads x, weight [in_channels, out_channels / groups, height, width] and bias if `bias`.
struct conv_transpose2d_layer {
  std::int64_t out_channels = 0;
  extent_pair kernel{};
  extent_pair stride{1, 1};
  extent_pair padding{0, 0};        ///< rows and columns cropped from the result's start
  extent_pair padding_after{0, 0};  ///< cropped from its end; negative values add zeros
  extent_pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

/// Reads a [..., m, k] and b [..., k, n]; gives scale * a * b. Leading extents are broadcast as in
/// NumPy. Matrices are packed row-major unless `a`, `b` or `product` states strides and extents,
/// which may differ from those of the value.
struct matmul_layer {
  std::optional<strided_matrices> a = {};
  std::optional<strided_matrices> b = {};
  std::optional<strided_matrices> product = {};
  float scale = 1;
};

/// Reads one or more values and joins them along one dimension.
struct concat_layer {
  std::size_t axis = 0;
};

/// Selects elements begin, begin + step, ... along each dimension.
struct slice_layer {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> step;  ///< may be negative
  shape extents;                   ///< of the result
};

/// Adds elements with the same value before and after x along each dimension.
struct pad_layer {
  float value = 0;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
};

/// Transposes x: dimension i of the result is dimension order[i] of x.
struct transpose_layer {
  std::vector<std::size_t> order;
};

/// Views the elements in another shape.
struct reshape_layer {
  shape extents;
};

/// Broadcasts x to a shape as in NumPy.
struct expand_layer {
  shape extents;
};

struct reduce_layer {
  enum class reduction { sum, mean, max, min, product };
  reduction function = reduction::mean;
  std::vector<std::size_t> axes;
  bool keep_dims = true;
};

/// One position of a resized dimension: a mix of `first` and `second`, where `second` has `weight`.
struct resize_position {
  std::int64_t first = 0;
  std::int64_t second = 0;
  float weight = 0;
};

/// Resizes [N, C, height, width] along height and width.
struct resize2d_layer {
  std::vector<resize_position> rows;
  std::vector<resize_position> columns;
};

/// Selects the elements at `indices` along one dimension.
struct gather_layer {
  std::size_t axis = 0;
  std::vector<std::int64_t> indices;
};

/// Reads x and an index tensor of any shape. In the result, the dimensions of the index tensor
/// replace dimension `axis` of x. Negative indices count from the end; an index out of range takes
/// the nearest element and ends the run.
struct take_layer {
  std::size_t axis = 0;
};

/// Elements of a tensor that an index tensor selects, as ONNX's GatherElements, GatherND and their
/// scatters do. At each position of the space, with one packed value, `extents.size()` consecutive
/// indices select along dimensions with these extents and strides, from `axis` on; negative ones
/// count from the end, and one out of range selects the nearest element and ends the run.
struct indexed_elements {
  pointwise_space space;  ///< strides in the tensor, apart from its indexed dimensions; in the
                          ///< index tensor
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  std::size_t axis = 0;
};

/// Reads x and an index tensor; gives the selected elements, packed, in a shape.
struct indexed_gather_layer {
  indexed_elements selected;
  shape extents;
};

/// Reads x, an index tensor and packed updates; gives x with its selected elements replaced by the
/// updates, or combined with them by `function`: sum, product, max or min. Without a function, one
/// of several updates of an element counts.
struct indexed_scatter_layer {
  indexed_elements selected;
  std::optional<reduce_layer::reduction> function;
};

/// Computes weighted sums along one dimension: element i is the sum of weights[k] * x[indices[k]]
/// over the `taps` numbers k from i * taps on. Elements of weight 0 do not count, not even NaN.
struct resample_layer {
  std::size_t axis = 0;
  std::int64_t taps = 1;
  std::vector<std::int64_t> indices;
  std::vector<float> weights;
};

/// Selects the `count` greatest or least elements along an axis. Gives their values, the first one
/// first, then their indices. NaN comes before all numbers; of equal elements, the one with the
/// lowest index, or the highest if `last_of_equal`.
struct top_k_layer {
  std::size_t axis = 0;
  std::int64_t count = 1;
  bool largest = true;
  bool last_of_equal = false;
};

/// Reads boxes [batch, N, 4], given by two opposite corners or, if `centered`, by center, width and
/// height, and scores [batch, classes, N]. For each entry of the batch and class, keeps up to
/// `most` boxes, as `suppressor` does. Gives the entry, class and box of each, [capacity, 3], by
/// entry, class and falling score, and how many there are, [1]. Further rows are 0.
struct non_max_suppression_layer {
  std::int64_t most = 1;
  float iou_threshold = 0;
  std::optional<float> score_threshold;
  bool centered = false;
};

/// Gives the positions of the elements of x that are not 0, [rank, capacity], in row-major order,
/// and how many there are, [1]. Further columns are 0.
struct nonzero_layer {};

/// Sums the elements up to each element along an axis, from the end if `reverse`.
struct cumulative_sum_layer {
  std::size_t axis = 0;
  bool exclusive = false;  ///< without the element itself
  bool reverse = false;
};

/// Converts an input of the network to float32, which rounds integers above 2^24, or an output of
/// the network from float32 to integers, which saturates.
struct convert_layer {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
};

/// The equations of a recurrent layer: h = f(W x + R h + b) for a function, a GRU or an LSTM.
enum class recurrent_cell { tanh, relu, sigmoid, gru, lstm };

/// Reads:
/// - the gates of x, W x + b, [steps, batch, directions * gates * hidden], in the order input,
///   forget, cell, output for an LSTM, and update, reset, new for a GRU;
/// - the initial hidden state and, for an LSTM, the initial cell state, both [directions, batch,
///   hidden];
/// - weight_hh [directions, gates * hidden, hidden];
/// - if `reset_after`, the bias of R h for the new gate [directions, hidden];
/// - if `peepholes`, the weights of the cell state [directions, 3 hidden] for the input, forget and
///   output gates.
/// Gives the hidden state of each step [steps, batch, directions * hidden], then the final hidden
/// state and, for an LSTM, the final cell state.
struct recurrent_layer {
  enum class direction { forward, backward, both };
  recurrent_cell cell = recurrent_cell::lstm;
  direction way = direction::forward;
  std::int64_t hidden = 0;
  bool reset_after = false;  ///< GRU: the reset gate scales R h + b, with a bias of its own, not h
  bool peepholes = false;    ///< LSTM

  std::int64_t gates() const {
    return cell == recurrent_cell::lstm ? 4 : cell == recurrent_cell::gru ? 3 : 1;
  }
  std::int64_t directions() const { return way == direction::both ? 2 : 1; }
};

/// Every layer with its own lowering. The headers of shape rules and lowerings expand this list to
/// one function per layer. `pointwise_layer` and `batch_norm2d_layer` are missing because they are
/// steps of expressions.
#define GRAPHLINE_LOWERED_LAYERS(ROW) \
  ROW(conv2d_layer)                   \
  ROW(conv_transpose2d_layer)         \
  ROW(linear_layer)                   \
  ROW(matmul_layer)                   \
  ROW(attention_layer)                \
  ROW(recurrent_layer)                \
  ROW(softmax_layer)                  \
  ROW(layer_norm_layer)               \
  ROW(pool2d_layer)                   \
  ROW(adaptive_avg_pool2d_layer)      \
  ROW(reduce_layer)                   \
  ROW(resize2d_layer)                 \
  ROW(concat_layer)                   \
  ROW(slice_layer)                    \
  ROW(pad_layer)                      \
  ROW(transpose_layer)                \
  ROW(reshape_layer)                  \
  ROW(expand_layer)                   \
  ROW(gather_layer)                   \
  ROW(take_layer)                     \
  ROW(indexed_gather_layer)           \
  ROW(indexed_scatter_layer)          \
  ROW(resample_layer)                 \
  ROW(top_k_layer)                    \
  ROW(cumulative_sum_layer)           \
  ROW(non_max_suppression_layer)      \
  ROW(nonzero_layer)                  \
  ROW(convert_layer)

#define GRAPHLINE_ALTERNATIVE(layer) , layer
using layer_operation =
    std::variant<pointwise_layer,
                 batch_norm2d_layer GRAPHLINE_LOWERED_LAYERS(GRAPHLINE_ALTERNATIVE)>;
#undef GRAPHLINE_ALTERNATIVE

}  // namespace graphline::nn
