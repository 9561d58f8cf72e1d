#pragma once

#include <algorithm>

namespace graphline::nn {

/// A box given by two opposite corners.
struct box {
  float x1;
  float y1;
  float x2;
  float y2;

  float area() const noexcept { return (x2 - x1) * (y2 - y1); }
};

/// Converts x and y of the center, width and height to corners.
inline box from_center(const box& given) noexcept {
  const float width = given.x2 / 2;
  const float height = given.y2 / 2;
  return {given.x1 - width, given.y1 - height, given.x1 + width, given.y1 + height};
}

/// Orders the corners, so that the area is not negative.
inline box ordered(const box& given) noexcept {
  const auto [left, right] = std::minmax(given.x1, given.x2);
  const auto [top, bottom] = std::minmax(given.y1, given.y2);
  return {left, top, right, bottom};
}

/// Returns intersection over union: NaN if both boxes are empty. NaN suppresses no box.
inline float overlap(const box& a, const box& b) noexcept {
  const float width = std::max(0.0F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float height = std::max(0.0F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const float common = width * height;
  return common / (a.area() + b.area() - common);
}

}  // namespace graphline::nn
