#include "stages/weights/uniform_draw.hpp"

#include <random>

#include "framework/base/random.hpp"

namespace graphline {

void draw_uniform(std::span<float> values, double bound, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  for (float& value : values) {
    value = static_cast<float>(bound * (2.0 * uniform_unit(generator) - 1.0));
  }
}

}  // namespace graphline
