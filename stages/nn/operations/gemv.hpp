#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

/// One dimension of the matrix rows: its extent, and the strides of the matrix and the vectors
/// along it, in elements. A stride of 0 broadcasts.
struct gemv_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t x = 0;

  bool operator==(const gemv_axis&) const = default;
};

/// y[i] = sum of a[row(i) + j] * x[vector(i) + j] over j < k, in float32. The rows of y are packed;
/// `axes` lists their dimensions outermost first, none of extent 1, at most `most_axes`. Operands:
/// a, x, y.
struct gemv_form {
  static constexpr std::size_t most_axes = 12;

  std::int64_t k = 1;
  std::vector<gemv_axis> axes = {};
  std::int64_t cut = 0;  ///< elements that the last row along the innermost axis lacks
  bool ones = false;     ///< x is all ones and is not read

  std::int64_t rows() const noexcept;
};

/// A product with one column as rows along as few axes as its strides allow.
gemv_form collapse_rows(const matmul_form& product);

/// A gemv in two passes: one sum per piece of a row, the pieces of a row adjacent, then one sum per
/// row. All pieces of a row but the last have the same length.
struct split_gemv {
  gemv_form pieces;
  gemv_form sums;  ///< reads what `pieces` writes; x is ones

  std::int64_t piece_count() const noexcept { return pieces.rows(); }
};

/// Splits few long rows into enough pieces to occupy a GPU; empty if rows are many or short.
std::optional<split_gemv> split_long_rows(const gemv_form& form);

}  // namespace graphline::nn
