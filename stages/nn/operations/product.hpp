#pragma once

#include <cstdint>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// A batched matrix product [batch..., m, k] x [batch..., k, n] -> [batch..., m, n]; all operands
/// have one rank, with leading extents of 1 where broadcast.
struct matmul_form {
  shape a;  ///< after transposing
  shape b;
  shape c;
  bool transpose_a = false;  ///< stored with its last two extents swapped
  bool transpose_b = false;

  /// Products summed per element: k.
  std::int64_t depth() const { return a[a.rank() - 1]; }
};

/// Matrices [batch..., rows, columns] with extents of 1 where broadcast, and their strides in
/// elements; rows or columns are contiguous.
struct strided_matrices {
  shape extents;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

/// c = scale * a * b, batched; all of one rank.
struct strided_product {
  strided_matrices a;
  strided_matrices b;
  strided_matrices c;
  float scale = 1;
};

/// Packed row-major matrices.
strided_matrices packed_matrices(const shape& extents);

strided_product strided(const matmul_form& form);

/// Reads both operands before broadcasting, writes the product.
cost cost_of(const matmul_form& form);

}  // namespace graphline::nn
