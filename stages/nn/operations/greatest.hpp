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

  GRAPHLINE_HOST_DEVICE bool precedes(const greatest& other) const {
    const bool number = value == value;
    const bool other_number = other.value == other.value;
    const bool equal = value == other.value || (!number && !other_number);
    return value > other.value || (other_number && !number) || (equal && index < other.index);
  }
  GRAPHLINE_HOST_DEVICE void operator+=(const greatest& other) {
    if (other.precedes(*this)) *this = other;
  }
};

/// Presents the elements of a line, possibly negated or in reverse order, so that the `greatest` is
/// the element wanted.
struct line_order {
  bool largest = true;
  bool last_of_equal = false;
  std::int32_t extent = 0;

  GRAPHLINE_HOST_DEVICE greatest present(float value, std::int64_t index) const {
    const auto at = static_cast<std::int32_t>(index);
    return {largest ? value : -value, last_of_equal ? extent - 1 - at : at};
  }
  GRAPHLINE_HOST_DEVICE float value_of(const greatest& of) const {
    return largest ? of.value : -of.value;
  }
  GRAPHLINE_HOST_DEVICE std::int32_t index_of(const greatest& of) const {
    return last_of_equal ? extent - 1 - of.index : of.index;
  }
};

}  // namespace graphline::nn
