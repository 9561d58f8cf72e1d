#pragma once

// What the project's own kernels compute, as plain data. Elements are float32, float16 or bfloat16;
// where nothing else is said those read and those written are of one type, or one of the two is
// float32. Sums are in float32.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/operations/gemv.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// Matrices [batch, rows, columns] to [batch, columns, padded_rows], as elements of another type;
/// rows added at the end are zeros. Channels first to channels last has the channels as rows; one
/// column is a plain conversion. Operands: from, to.
struct convert_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t padded_rows = 1;
};

/// The most operands, steps and extents of an expression that is one kernel.
inline constexpr std::size_t most_pointwise_operands = 24;
inline constexpr std::size_t most_pointwise_steps = 24;
inline constexpr std::size_t most_extents = 8;

/// A pointwise expression with one result, in float32, on tensors of any types: the operands also
/// of int32, int64 or uint8. `space` has the strides of the operands, then those of the result,
/// with its innermost extent last. The result may be an operand that lies alike. Operands: those of
/// the expression, then the result.
struct pointwise_form {
  pointwise_expression expression;
  pointwise_space space;
  std::vector<dtype> elements;  ///< of the operands, then of the result
};

/// A reduction of elements at `reduced` from each position of `kept` on, times `scale`. The strides
/// are those of what is read; the results are packed, in the order of `kept`. The two types may be
/// any. Operands: from, to.
struct reduce_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  reduce_layer::reduction function = reduce_layer::reduction::sum;  ///< not `mean`
  float scale = 1;
  pointwise_space kept;
  pointwise_space reduced;
};

/// Images [batch, height, width, channels] resized by tables of float32, for each row and column of
/// the result three numbers: those of the two rows that it is made of and the weight of the second.
/// Images with channels first are so many more images of one channel. Operands: from, rows,
/// columns, to.
struct resize_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  extent_pair in{};   ///< height, width
  extent_pair out{};  ///< height, width
};

/// The elements of [outer, extent, inner] whose numbers are in a table: see `take_layer`. Operands:
/// from, table, to.
struct gather_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  dtype numbers = dtype::float32;
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
  std::int64_t count = 1;  ///< numbers in the table
};

/// The last step of a transposed convolution: sums, for each element of [batch, height, width,
/// channels], of the products with the weights that reach it, [batch, in height, in width, groups,
/// kernel height, kernel width, channels / groups]. Operands: products, y.
struct transposed_sum_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  extent_pair in{};   ///< height, width
  extent_pair out{};  ///< height, width
  conv_transpose2d_layer conv;
};

/// One step of an LSTM for [batch, hidden]. The gates' products with x and with the hidden state
/// before lie as [batch, 4, hidden], in PyTorch's order; the bias [4, hidden] and the cell state
/// after it are float32, that before of any type. Rows of the hidden state, of the gates' type, are
/// `pitch` elements apart. Operands: products of x, products of the hidden state, bias, cell state
/// before, cell state after, hidden state.
struct lstm_form {
  dtype element = dtype::float32;      ///< of the gates and the hidden state
  dtype cell_before = dtype::float32;  ///< of the cell state before
  std::int64_t batch = 1;
  std::int64_t hidden = 1;
  std::int64_t pitch = 1;
};

/// A pool of images [batch, height, width, channels]; images with channels first are so many more
/// images of one channel. `adaptive`: means over windows by `adaptive_window`, for which only the
/// extents count. Operands: from, to.
struct pool_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  extent_pair in{};   ///< height, width
  extent_pair out{};  ///< height, width
  bool adaptive = false;
  pool2d_layer pool = {};
};

/// exp(x) / sum(exp(x)) along the middle of [outer, extent, inner]. May work in place. Operands:
/// from, to.
struct softmax_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
};

/// (x - mean) / sqrt(variance + eps) * weight + bias along the rows of [rows, extent]; weight and
/// bias are float32. Operands: x, weight, bias, y.
struct layer_norm_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t rows = 1;
  std::int64_t extent = 1;
  float eps = 1e-5F;
};

/// How many elements in a row a block of a `sum_form` reads at once.
inline constexpr std::int64_t sum_row = 8192;

/// The sum of all elements of a float32 tensor, piece by piece, so that it is the same in every
/// run. Operands: from, the sums of `pieces_of` pieces, to.
struct sum_form {
  std::int64_t count = 0;
  /// As many as a single block, which is alone on the GPU then, reads at once.
  std::int64_t most_pieces = 4096;
};
constexpr std::int64_t rows_of_piece(const sum_form& form) noexcept {
  return (form.count + sum_row * form.most_pieces - 1) / (sum_row * form.most_pieces);
}
constexpr std::int64_t pieces_of(const sum_form& form) noexcept {
  const std::int64_t piece = sum_row * rows_of_piece(form);
  return piece == 0 ? 0 : (form.count + piece - 1) / piece;
}

/// One thread that is busy for a time, in nanoseconds. No operands.
struct spin_form {
  std::int64_t duration = 0;
};

using kernel_form = std::variant<convert_form, pointwise_form, pool_form, softmax_form,
                                 layer_norm_form, gemv_form, sum_form, reduce_form, resize_form,
                                 gather_form, transposed_sum_form, lstm_form, spin_form>;

/// Enqueues a kernel on a CUDA stream, `operands` as its form states them, in device memory. No
/// allocation; may run under a capture. `owner` ("stage 'head', layer '0.gelu'") is named in the
/// `cuda_error` of a launch that fails.
void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner);

}  // namespace graphline::nn
