#pragma once

#include <cmath>
#include <cstdint>

#include "stages/nn/operations/host_device.hpp"

namespace graphline::nn {

/// The two source rows or columns that are mixed into a row or column of a resized picture.
struct linear_tap {
  std::int32_t first;
  std::int32_t second;
  std::int32_t first_weight;  ///< in units of 1/2048, like `second_weight`
  std::int32_t second_weight;
};

/// Returns the `scale` with which `from` rows or columns are resized to `to`, rounded as OpenCV's.
GRAPHLINE_HOST_DEVICE inline double linear_scale(std::int64_t from, std::int64_t to) {
  return 1 / (static_cast<double>(to) / static_cast<double>(from));
}

/// Returns the tap of row or column `i` of a picture with `from` of them. Rounds at the same points
/// as OpenCV (modules/imgproc/src/resize.cpp), to float32 and to the nearest weight. On a GPU, the
/// product is not contracted with the subtraction.
GRAPHLINE_HOST_DEVICE inline linear_tap linear_tap_at(std::int64_t i, std::int64_t from,
                                                      double scale) {
#ifdef __CUDA_ARCH__
  const double product = __dmul_rn(static_cast<double>(i) + 0.5, scale);
#else
  const double product = (static_cast<double>(i) + 0.5) * scale;
#endif
  const auto at = static_cast<float>(product - 0.5);
  const float first = floorf(at);
  const float fraction = at - first;
  const auto last = static_cast<float>(from - 1);
  return {static_cast<std::int32_t>(fminf(fmaxf(first, 0.0F), last)),
          static_cast<std::int32_t>(fminf(fmaxf(first + 1, 0.0F), last)),
          static_cast<std::int32_t>(lrintf((1 - fraction) * 2048)),
          static_cast<std::int32_t>(lrintf(fraction * 2048))};
}

/// Mixes two neighbors of a row; the result is multiplied by 2048.
GRAPHLINE_HOST_DEVICE inline std::int32_t mix_columns(const linear_tap& tap, std::int32_t first,
                                                      std::int32_t second) {
  return first * tap.first_weight + second * tap.second_weight;
}

/// Mixes results of `mix_columns` from two rows to an element of the resized picture.
GRAPHLINE_HOST_DEVICE inline std::uint8_t mix_rows(const linear_tap& tap, std::int32_t upper,
                                                   std::int32_t lower) {
  const std::int32_t mixed =
      ((tap.first_weight * (upper >> 4)) >> 16) + ((tap.second_weight * (lower >> 4)) >> 16);
  return static_cast<std::uint8_t>((mixed + 2) >> 2);
}

}  // namespace graphline::nn
