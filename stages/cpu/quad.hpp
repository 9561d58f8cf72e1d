#pragma once

#include <array>
#include <cmath>

namespace graphline {

/// A point of a picture; pixel centers have integer coordinates.
struct point {
  float x = 0;
  float y = 0;

  point operator+(point o) const noexcept { return {x + o.x, y + o.y}; }
  point operator-(point o) const noexcept { return {x - o.x, y - o.y}; }
  point operator*(float factor) const noexcept { return {x * factor, y * factor}; }
};

inline float dot(point a, point b) noexcept {
  return a.x * b.x + a.y * b.y;
}

/// Returns a positive number if b is clockwise of a, with y downwards.
inline float cross(point a, point b) noexcept {
  return a.x * b.y - a.y * b.x;
}

inline float length(point p) noexcept {
  return std::hypot(p.x, p.y);
}

/// An upright box given by two corners.
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

/// Four corners, clockwise from the top left, as in a tensor [.., 4, 2].
using quad = std::array<point, 4>;

}  // namespace graphline
