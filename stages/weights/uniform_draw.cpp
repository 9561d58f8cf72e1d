#include "stages/weights/uniform_draw.hpp"

#include <random>

namespace graphline {

void draw_uniform(std::span<float> values, double bound, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  for (float& value : values) {
    const double unit = static_cast<double>(generator() >> 11) * 0x1.0p-53;  // [0, 1)
    value = static_cast<float>(bound * (2.0 * unit - 1.0));
  }
}

}  // namespace graphline
