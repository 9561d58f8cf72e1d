#pragma once

#include <cmath>
#include <cstdint>

#include "stages/nn/operations/host_device.hpp"

namespace graphline::nn {

/// The greatest of several values and its index. NaN is greater than every number, as in PyTorch;
/// of equal values, the one with the lowest index counts. So the order of += does not matter.
struct greatest {
  float value = -INFINITY;
  std::int32_t index = INT32_MAX;

  GRAPHLINE_HOST_DEVICE void operator+=(const greatest& other) {
    const bool number = value == value;
    const bool other_number = other.value == other.value;
    const bool equal = value == other.value || (!number && !other_number);
    const bool greater = other.value > value || (number && !other_number);
    if (greater || (equal && other.index < index)) *this = other;
  }
};

}  // namespace graphline::nn
