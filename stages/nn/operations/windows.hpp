#pragma once

#include <cstdint>

#include "stages/nn/operations/host_device.hpp"

namespace graphline::nn {

/// The elements [begin, end) of a pooling window along one axis, and the divisor of the mean along
/// that axis.
struct window {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t divisor = 1;

  GRAPHLINE_HOST_DEVICE std::int64_t elements() const noexcept { return end - begin; }
};

/// Returns window `i` of adaptive pooling from `in` to `out` elements, as in
/// torch.nn.AdaptiveAvgPool2d: elements floor(i in / out) to ceil((i + 1) in / out), exclusive.
GRAPHLINE_HOST_DEVICE inline window adaptive_window(std::int64_t i, std::int64_t in,
                                                    std::int64_t out) noexcept {
  const std::int64_t begin = i * in / out;
  const std::int64_t end = ((i + 1) * in + out - 1) / out;
  return {begin, end, end - begin};
}

/// Returns window `i` of an average pool over `in` elements, as in torch.nn.AvgPool2d. `padding` is
/// before the elements and `padding_after` after them. With `count_include_pad`, the divisor counts
/// padding, but not the part of a ceil_mode window beyond the padding.
GRAPHLINE_HOST_DEVICE inline window strided_window(std::int64_t i, std::int64_t in,
                                                   std::int64_t kernel, std::int64_t stride,
                                                   std::int64_t padding, std::int64_t padding_after,
                                                   bool count_include_pad) noexcept {
  const std::int64_t begin = i * stride - padding;
  // Device code cannot call std::min and std::max.
  const std::int64_t all = in + padding_after;
  const std::int64_t end = begin + kernel < all ? begin + kernel : all;
  const std::int64_t inside_begin = begin > 0 ? begin : 0;
  const std::int64_t inside_end = end < in ? end : in;
  return {inside_begin, inside_end, count_include_pad ? end - begin : inside_end - inside_begin};
}

/// Returns the element, in [0, extent), that `take_layer` takes for an index: negative indices
/// count from the end. Takes the nearest element for an index that is out of range, and stores that
/// index, which is not 0, to `outside` unless it is null.
GRAPHLINE_HOST_DEVICE inline std::int64_t taken_position(float number, std::int64_t extent,
                                                         float* outside = nullptr) {
  const auto count = static_cast<float>(extent);
  const bool inside = number >= -count && number < count;  // false for NaN
  if (!inside && outside != nullptr) *outside = number;
  if (number < 0) number += count;
  const float last = count - 1;
  return static_cast<std::int64_t>(number > 0 ? (number < last ? number : last) : 0.0F);
}

}  // namespace graphline::nn
