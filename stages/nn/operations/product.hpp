#pragma once

#include <cstdint>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// A batched matrix product [batch..., m, k] x [batch..., k, n] -> [batch..., m, n]. All operands
/// have the same rank; broadcast leading extents are 1.
struct matmul_form {
  shape a;  ///< after transposing
  shape b;
  shape c;
  bool transpose_a = false;  ///< stored with its last two extents swapped
  bool transpose_b = false;

  /// Returns k.
  std::int64_t depth() const { return a[a.rank() - 1]; }
};

/// Matrices [batch..., rows, columns] and their strides in elements. Broadcast extents are 1. Rows
/// or columns are contiguous.
struct strided_matrices {
  shape extents;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

/// Computes c = scale * a * b, batched; all operands have the same rank.
struct strided_product {
  strided_matrices a;
  strided_matrices b;
  strided_matrices c;
  float scale = 1;
};

strided_matrices packed_matrices(const shape& extents);

strided_product strided(const matmul_form& form);

/// Returns the cost. Bytes are those of the product and of the operands before broadcasting.
cost cost_of(const matmul_form& form);

}  // namespace graphline::nn
