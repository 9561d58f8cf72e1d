#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::test {

/// The product of packed operands of these extents by the rules of torch.matmul, into `c`. Sums are
/// in double.
template <class Number>
std::vector<Number> batched_product(const shape& a, const shape& b, const shape& c,
                                    const std::vector<Number>& left,
                                    const std::vector<Number>& right, bool transpose_a = false,
                                    bool transpose_b = false) {
  // The offset of an operand's matrix for entry `index` of the batch.
  const auto offset_in = [&c](const shape& operand, std::int64_t index) {
    std::int64_t stride = operand[operand.rank() - 1] * operand[operand.rank() - 2];
    std::int64_t offset = 0;
    std::size_t axis = operand.rank() - 2;
    for (std::size_t i = c.rank() - 2; i-- > 0 && axis > 0;) {
      --axis;
      if (operand[axis] > 1) offset += index % c[i] * stride;
      index /= c[i];
      stride *= operand[axis];
    }
    return offset;
  };
  const auto element = [](const std::vector<Number>& values, const shape& s, std::int64_t offset,
                          std::int64_t row, std::int64_t column, bool transposed) {
    if (transposed) std::swap(row, column);
    const std::int64_t at = offset + row * s[s.rank() - 1] + column;
    return static_cast<double>(values[static_cast<std::size_t>(at)]);
  };
  const std::int64_t m = c[c.rank() - 2];
  const std::int64_t n = c[c.rank() - 1];
  const std::int64_t k = transpose_a ? a[a.rank() - 2] : a[a.rank() - 1];
  std::vector<Number> result;
  for (std::int64_t index = 0; index < c.elements() / (m * n); ++index) {
    const std::int64_t in_a = offset_in(a, index);
    const std::int64_t in_b = offset_in(b, index);
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (std::int64_t j = 0; j < k; ++j) {
          sum += element(left, a, in_a, row, j, transpose_a) *
                 element(right, b, in_b, j, column, transpose_b);
        }
        result.push_back(static_cast<Number>(sum));
      }
    }
  }
  return result;
}

/// Packed matrices multiplied by vectors.
inline nn::strided_product gemv_of(const shape& a, const shape& x, const shape& y) {
  return matrices_of(nn::matmul_layer(), a, x, y);
}

/// The shapes of a product with vectors.
struct gemv_case {
  shape a;
  shape x;
  shape y;
};

/// One and many rows, short and long ones, multiples of the register width and others, either
/// operand broadcast along inner, outer and several dimensions.
std::vector<gemv_case> gemv_cases();

inline std::vector<float> gemv_reference(const gemv_case& wanted, const std::vector<float>& a,
                                         const std::vector<float>& x) {
  return batched_product(wanted.a, wanted.x, wanted.y, a, x);
}

}  // namespace graphline::test
