#pragma once

#include <cstdint>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline::test {

/// Operands of a product with vectors, and what it is.
struct gemv_case {
  shape a;
  shape x;
  shape y;
};

/// Shapes of every kind: one and many rows, short and long ones, those that registers divide and
/// others, either operand broadcast along inner, outer and several dimensions.
std::vector<gemv_case> gemv_cases();

/// The products, evaluated one by one in double precision.
std::vector<float> gemv_reference(const gemv_case& wanted, const std::vector<float>& a,
                                  const std::vector<float>& x);

}  // namespace graphline::test
