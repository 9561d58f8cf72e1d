#pragma once

#include <cstdint>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

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

}  // namespace graphline::nn
