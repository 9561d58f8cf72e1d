#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

/// One dimension of the matrix rows: its extent, and the strides of the matrix a and of the vectors
/// x, in elements. A stride of 0 broadcasts.
struct gemv_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t x = 0;

  bool operator==(const gemv_axis&) const = default;
};

/// Computes y[i] = sum of a[row(i) + j] * x[vector(i) + j] over j < k, in float32. The rows of y
/// are packed. `axes` lists the dimensions of the rows, outermost first: at most `most_axes`, none
/// of extent 1. Operands: a, x, y.
struct gemv_form {
  static constexpr std::size_t most_axes = 12;

  std::int64_t k = 1;
  std::vector<gemv_axis> axes = {};
  std::int64_t cut = 0;  ///< elements that the last row along the innermost axis lacks
  bool ones = false;     ///< x is all ones and is not read

  std::int64_t rows() const noexcept;
};

/// Returns the form of a product with one column, with as few axes as its strides allow. Rows of a
/// and vectors are contiguous.
gemv_form collapse_rows(const strided_product& product);

/// A gemv in two passes: a sum per piece of a row, then a sum of the pieces per row. Sums of the
/// pieces of a row are adjacent. All pieces have the same length except the last of each row.
struct split_gemv {
  gemv_form pieces;
  gemv_form sums;  ///< reads the output of `pieces`; x is all ones

  std::int64_t piece_count() const noexcept { return pieces.rows(); }
};

/// Splits few long rows into enough pieces to occupy a GPU. Returns empty if the rows are many or
/// short.
std::optional<split_gemv> split_long_rows(const gemv_form& form);

}  // namespace graphline::nn
