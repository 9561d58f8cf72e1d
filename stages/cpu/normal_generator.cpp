#include "stages/cpu/normal_generator.hpp"

#include <cmath>
#include <cstddef>

namespace graphline {

void normal_generator::seed(std::uint64_t seed) {
  bits_.seed(seed);
}

/// Uniform in [-1, 1): the upper 53 bits, all that a double holds, times 2^-52, minus one. Exact.
double normal_generator::uniform() {
  return static_cast<double>(bits_() >> 11) * 0x1p-52 - 1.0;
}

void normal_generator::fill(std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    double x;
    double y;
    double square;
    do {  // until (x, y) lies within the unit circle: 4 / pi tries on average
      x = uniform();
      y = uniform();
      square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    values[i] = x * factor;
    if (i + 1 < values.size()) values[i + 1] = y * factor;
  }
}

}  // namespace graphline
