#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace graphline {

/// Uniform double in [0, 1) from the upper 53 bits of a generator's 64-bit draw; the same on every
/// machine, which the standard library's distributions are not.
template <class Generator>
double uniform_unit(Generator& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

/// Standard normal float64 numbers by Marsaglia's polar method (1964) over std::mt19937_64: the
/// method of NumPy's legacy generator. The same on every machine.
class normal_source {
 public:
  explicit normal_source(std::uint64_t seed) : generator_(seed) {}

  double operator()() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x;
    double y;
    double square;
    do {
      x = 2.0 * uniform_unit(generator_) - 1.0;
      y = 2.0 * uniform_unit(generator_) - 1.0;
      square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    spare_ = x * factor;
    has_spare_ = true;
    return y * factor;
  }

 private:
  std::mt19937_64 generator_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace graphline
