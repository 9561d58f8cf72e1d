#pragma once

// Plain data that describes what Graphline's kernels compute. Elements are float32, float16 or
// bfloat16; sums are float32. Unless a form says otherwise, inputs and outputs have the same type,
// or one of the types is float32. Pairs are {height, width}.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/operations/gemv.hpp"
#include "stages/nn/operations/layer_operation.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {

/// Transposes [batch, rows, columns] to [batch, columns, padded_rows] and converts elements. The
/// padding is zero. For NCHW to NHWC, the channels are the rows. With one column, the form only
/// converts. Operands: from, to.
struct convert_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t padded_rows = 1;
};

/// Limits of an expression in one kernel.
inline constexpr std::size_t most_pointwise_operands = 24;
inline constexpr std::size_t most_pointwise_steps = 24;
inline constexpr std::size_t most_extents = 8;

/// Evaluates a pointwise expression with one result in float32. Operands may have any type, the
/// result any but float64, and their types may differ. `space` contains the strides of the
/// operands, then of the result, with the innermost extent last. The result may alias an operand
/// with the same strides. Operands: those of the expression, then the result.
struct pointwise_form {
  pointwise_expression expression;
  pointwise_space space;
  std::vector<dtype> elements;  ///< of the operands, then of the result
};

/// Reduces the elements of `reduced` at each position of `kept`, times `scale`. Strides refer to
/// the input; the result is packed in the order of `kept`. All types work. Operands: from, to.
struct reduce_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  reduce_layer::reduction function = reduce_layer::reduction::sum;  ///< not `mean`
  float scale = 1;
  pointwise_space kept;
  pointwise_space reduced;
};

/// Resizes images [batch, height, width, channels]. Each row or column of the result has three
/// float32 numbers in a table: two source indices and the weight of the second index. NCHW images
/// count as batch * channels images with one channel. Operands: from, rows, columns, to.
struct resize_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  extent_pair in{};
  extent_pair out{};
};

/// Gathers elements of [outer, extent, inner] by a table of indices, as `take_layer` does.
/// Operands: from, table, to; if an index can be out of range, a float32 that takes it.
struct gather_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  dtype numbers = dtype::float32;  ///< of the table
  axis_extents axis = {};
  std::int64_t count = 1;  ///< of the table
};

/// Gathers elements by a table of indices, or scatters packed updates to a tensor, as
/// `indexed_gather_layer` and `indexed_scatter_layer` do. Operands: from, table, to, and a float32
/// for each indexed dimension that takes an index out of range.
struct indexed_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  dtype numbers = dtype::float32;  ///< of the table
  indexed_elements selected;
  bool scatters = false;
  std::optional<reduce_layer::reduction> function = {};
};

/// Computes weighted sums along the middle of [outer, extent, inner], as `resample_layer` does.
/// The table has index and weight of each tap in float32. Operands: from, table, to.
struct resample_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  axis_extents axis = {};
  std::int64_t count = 1;  ///< sums
  std::int64_t taps = 1;
};

/// Last step of a transposed convolution: sums the products that contribute to each element of
/// [batch, height, width, channels]. The products are [batch, in height, in width, groups, kernel
/// height, kernel width, channels / groups]. Operands: products, y.
struct transposed_sum_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  extent_pair in{};
  extent_pair out{};
  conv_transpose2d_layer conv;
};

/// Computes a step of a `recurrent_layer` on [batch, hidden]. The gates of x, and the products of
/// the gates' weights with the previous hidden state, are [batch, gates, hidden]. Bias and
/// peepholes are float32, without directions. The hidden states have the gates' type; rows of the
/// new one are `pitch` elements apart. An LSTM has a new cell state in float32, and a previous one
/// of any type.
///
/// Before the step of a GRU without `reset_after`, the form with `resets` computes the previous
/// hidden state times the reset gate; the product of this with the new gate's weights then takes
/// the place of the product with the previous hidden state.
///
/// Operands: gates of x, products of the hidden state, new hidden state (for `resets`: the scaled
/// one); for a GRU then the previous hidden state, and the bias with `reset_after`; for an LSTM the
/// previous and the new cell state, then peepholes if there are any.
struct recurrent_form {
  recurrent_layer layer;
  bool resets = false;
  dtype element = dtype::float32;      ///< gates and hidden states
  dtype cell_before = dtype::float32;  ///< previous cell state
  std::int64_t batch = 1;
  std::int64_t pitch_x = 1;       ///< of the gates of x
  std::int64_t pitch_before = 1;  ///< of the previous hidden state
  std::int64_t pitch = 1;
};

/// Pools images [batch, height, width, channels]; NCHW images count as batch * channels images with
/// one channel. `adaptive` computes means over the windows of `adaptive_window` and ignores `pool`.
/// Operands: from, to.
struct pool_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  extent_pair in{};
  extent_pair out{};
  bool adaptive = false;
  pool2d_layer pool = {};
};

/// Computes exp(x) / sum(exp(x)) along the middle of [outer, extent, inner], possibly in place.
/// Operands: from, to.
struct softmax_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  axis_extents axis = {};
  std::int64_t pitch = 0;  ///< elements from one outer index to the next; 0: extent * inner
};

/// Computes (x - mean) / sqrt(variance + eps) * weight + bias along the rows of [rows, extent].
/// weight and bias are float32. Operands: x, weight, bias, y.
struct layer_norm_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t rows = 1;
  std::int64_t extent = 1;
  float eps = 1e-5F;
};

/// Number of elements that a block of a `sum_form` loads at once.
inline constexpr std::int64_t sum_row = 8192;

/// Sums a float32 tensor in pieces with a fixed order of additions, so that every run gives the
/// same bits. Operands: from, sums of the `pieces_of` pieces, to.
struct sum_form {
  std::int64_t count = 0;
  /// Limits the number of pieces, because a single block of the second kernel adds them up.
  std::int64_t most_pieces = 4096;
};
constexpr std::int64_t rows_of_piece(const sum_form& form) noexcept {
  return (form.count + sum_row * form.most_pieces - 1) / (sum_row * form.most_pieces);
}
constexpr std::int64_t pieces_of(const sum_form& form) noexcept {
  const std::int64_t piece = sum_row * rows_of_piece(form);
  return piece == 0 ? 0 : (form.count + piece - 1) / piece;
}

/// Finds the first `count` elements along the middle of [outer, extent, inner], as `top_k_layer`
/// does. Indices are float32 or int64. Operands: from, indices, values.
struct top_k_form {
  dtype from = dtype::float32;
  dtype indices = dtype::float32;
  dtype to = dtype::float32;
  axis_extents axis = {};
  std::int64_t count = 1;
  bool largest = true;
  bool last_of_equal = false;
};

/// Sums along the middle of [outer, extent, inner], as `cumulative_sum_layer` does. Operands: from,
/// to.
struct cumulative_sum_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  axis_extents axis = {};
  bool exclusive = false;
  bool reverse = false;
};

/// Resizes pictures uint8 [batch, height, width, channels], bit for bit as `cpu.resize`. Operands:
/// pictures, their sizes in int64 [batch, 2] or null, resized pictures.
struct resize_pictures_form {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  extent_pair in{};
  extent_pair out{};
};

/// Computes x * factor + offset for pictures uint8 [batch, height, width, 3]; factor and offset
/// belong to the picture's channels. The result is [batch, 3, height, width] or, with `gray`,
/// [batch, 1, height, width]: luma, with the first factor and offset. Operands: pictures, their
/// sizes in int64 [batch, 2] or null, result.
struct normalize_pictures_form {
  dtype to = dtype::float32;
  bool channels_last = false;  ///< order of the result in memory
  std::int64_t batch = 1;
  extent_pair in{};
  bool blue_first = false;  ///< reverses the channels of the result
  bool gray = false;
  float factor[3] = {1, 1, 1};
  float offset[3] = {0, 0, 0};
};

/// Keeps a thread busy for `duration` ns. No operands.
struct spin_form {
  std::int64_t duration = 0;
};

using kernel_form =
    std::variant<convert_form, pointwise_form, pool_form, softmax_form, layer_norm_form, gemv_form,
                 sum_form, reduce_form, resize_form, gather_form, indexed_form, resample_form,
                 transposed_sum_form, recurrent_form, top_k_form, cumulative_sum_form,
                 resize_pictures_form, normalize_pictures_form, spin_form>;

/// Enqueues a kernel on a CUDA stream. `operands` contains device addresses in the order of the
/// form. Allocates nothing and may run under capture. @throws cuda_error naming `owner` ("stage
/// 'head', layer '0.gelu'") if the launch fails.
void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner);

}  // namespace graphline::nn
