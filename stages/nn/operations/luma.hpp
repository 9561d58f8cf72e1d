#pragma once

#include <cstdint>

#include "stages/nn/operations/host_device.hpp"

namespace graphline::nn {

/// Returns the luma of a pixel of red, green and blue by ITU-R BT.601, rounded as Pillow's
/// convert("L") rounds it (libImaging/Convert.c).
GRAPHLINE_HOST_DEVICE inline std::uint8_t luma(const std::uint8_t* pixel) {
  return static_cast<std::uint8_t>(
      (19595U * pixel[0] + 38470U * pixel[1] + 7471U * pixel[2] + 0x8000U) >> 16);
}

}  // namespace graphline::nn
