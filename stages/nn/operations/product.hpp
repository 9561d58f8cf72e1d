#pragma once

#include <cstdint>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// A batched matrix product in one rank: [batch..., m, k] x [batch..., k, n] -> [batch..., m, n],
/// with leading extents of 1 where an operand is broadcast.
struct matmul_form {
  shape a;  ///< after transposing
  shape b;
  shape c;
  bool transpose_a = false;  ///< in memory the last two extents of `a` are swapped
  bool transpose_b = false;

  /// How many products each element is the sum of.
  std::int64_t depth() const { return a[a.rank() - 1]; }
};

/// Matrices [batch..., rows, columns], 1 along what they are broadcast along, and where their
/// elements lie, in elements: one after the other in each row or in each column.
struct strided_matrices {
  shape extents;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

/// A batched product of matrices in one rank, times a number.
struct strided_product {
  strided_matrices a;
  strided_matrices b;
  strided_matrices c;
  float scale = 1;
};

/// Matrices that follow each other row by row.
strided_matrices packed_matrices(const shape& extents);

strided_product strided(const matmul_form& form);

/// What it amounts to: both operands as they are, before broadcasting, and the product.
cost cost_of(const matmul_form& form);

}  // namespace graphline::nn
