#pragma once

// What the project's own kernels compute, as plain data. Elements are float32, float16 or bfloat16:
// those read and those written of one type, or one of the two float32. Sums are in float32.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/gemv/gemv.hpp"
#include "stages/network/operations.hpp"

namespace graphline {

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

/// The most activations a chain of one kernel has.
inline constexpr std::size_t longest_chain = 8;

/// y = after(before(x * scale + shift) + added), element by element. Element i belongs to channel
/// i / inner % channels, whose scale and shift are float32; `added` is of x's type. May work in
/// place. Operands: x, scale (if any), shift (if any), added (if any), y.
struct pointwise_form {
  dtype from = dtype::float32;
  dtype to = dtype::float32;
  std::int64_t count = 0;
  std::int64_t channels = 1;
  std::int64_t inner = 1;
  bool scale = false;
  bool shift = false;
  std::vector<activation> before = {};  ///< at most `longest_chain`
  bool add = false;
  std::vector<activation> after = {};  ///< likewise
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

using kernel_form = std::variant<convert_form, pointwise_form, pool_form, softmax_form,
                                 layer_norm_form, gemv_form, sum_form>;

/// Enqueues a kernel on a CUDA stream, `operands` as its form states them, in device memory. No
/// allocation; may run under a capture. `owner` ("stage 'head', layer '0.gelu'") is named in the
/// `cuda_error` of a launch that fails.
void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner);

}  // namespace graphline
