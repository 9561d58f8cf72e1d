#pragma once

#include <cstdint>
#include <vector>

namespace graphline {

/// A picture in memory: rows from the top, each pixel R, G, B in one byte.
struct picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Draws landscape `number`: a sky with a sun, three ranges of hills, some balls, and the grain of
/// a film. Smooth parts, edges and noise make it compress and decode like a photograph. The same
/// number gives the same picture.
picture draw_landscape(std::uint32_t number, int width, int height);

}  // namespace graphline
