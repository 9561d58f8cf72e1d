#include "framework/base/random.hpp"

#include <cmath>
#include <cstddef>

namespace graphline {

void normal_generator::fill(std::span<double> values) {
  // Uniform in [-1, 1). Doubling and subtracting 1 are exact here.
  const auto uniform = [this] { return 2.0 * uniform_unit(bits_) - 1.0; };
  for (std::size_t i = 0; i < values.size(); i += 2) {
    double x;
    double y;
    double square;
    do {  // rejects points outside the unit circle; 4 / pi tries on average
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
