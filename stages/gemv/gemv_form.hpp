#pragma once

#include <cstdint>
#include <vector>

#include "stages/matmul.hpp"

namespace graphline {

/// Rows along a dimension of a product with vectors: how many, and how far their matrix rows and
/// their vectors are apart, in elements; 0 where one serves all of them.
struct gemv_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t x = 0;

  bool operator==(const gemv_axis&) const = default;
};

/// y[i] = sum of a[row(i) + j] x[vector(i) + j] over j < k, all float32. The rows of y lie one after
/// the other; `axes` count them, outermost first, none of extent 1, at most `most_axes`.
/// Operands: a, x, y.
struct gemv_form {
  static constexpr std::size_t most_axes = 12;

  std::int64_t k = 1;
  std::vector<gemv_axis> axes = {};

  std::int64_t rows() const noexcept;
};

/// A product with one column as rows along as few axes as its strides allow.
gemv_form collapse_rows(const matmul_form& product);

}  // namespace graphline
