#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

/// Rows along a dimension of a product with vectors: how many, and how far their matrix rows and
/// their vectors are apart, in elements; 0 where one serves all of them.
struct gemv_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t x = 0;

  bool operator==(const gemv_axis&) const = default;
};

/// y[i] = sum of a[row(i) + j] x[vector(i) + j] over j < k, all float32. The rows of y lie one
/// after the other; `axes` count them, outermost first, none of extent 1, at most `most_axes`.
/// Operands: a, x, y.
struct gemv_form {
  static constexpr std::size_t most_axes = 12;

  std::int64_t k = 1;
  std::vector<gemv_axis> axes = {};
  std::int64_t cut = 0;  ///< by so many elements the last row along the innermost axis is shorter
  bool ones = false;     ///< every element of x is 1, and the operand is not read

  std::int64_t rows() const noexcept;
};

/// A product with one column as rows along as few axes as its strides allow.
gemv_form collapse_rows(const matmul_form& product);

/// Rows cut into pieces, of one length but for the last of each: first a sum for each piece, those
/// of a row side by side, then the sums of these.
struct split_gemv {
  gemv_form pieces;
  gemv_form sums;  ///< its a is what `pieces` writes, and its x is ones

  std::int64_t piece_count() const noexcept { return pieces.rows(); }
};

/// Few long rows as many short ones, so that all of a GPU has some; nothing where rows are many or
/// short.
std::optional<split_gemv> split_long_rows(const gemv_form& form);

}  // namespace graphline::nn
