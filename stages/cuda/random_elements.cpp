#include "stages/cuda/random_elements.hpp"

#include <cstdint>
#include <cstring>
#include <random>

namespace graphline {
namespace {

/// A floating-point format: a sign, then the exponent, then the mantissa.
struct float_format {
  unsigned exponent_bits;
  unsigned mantissa_bits;
};

float_format format_of(precision p) {
  if (p == precision::float16) return {5, 10};
  if (p == precision::bfloat16) return {8, 7};
  return {8, 23};
}

/// A number of that format from random bits: its exponent is one of the eight below that of 1.
std::uint32_t element(float_format f, std::uint64_t random) {
  const std::uint64_t bias = (std::uint64_t{1} << (f.exponent_bits - 1)) - 1;
  const std::uint64_t mantissa = random & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  const std::uint64_t exponent = bias - 8 + (random >> 32 & 7);
  const std::uint64_t sign = random >> 63;
  return static_cast<std::uint32_t>(sign << (f.exponent_bits + f.mantissa_bits) |
                                    exponent << f.mantissa_bits | mantissa);
}

}  // namespace

std::vector<std::byte> random_elements(precision p, std::size_t bytes) {
  const float_format format = format_of(p);
  const std::size_t size = element_bytes(p);
  std::mt19937_64 generator(1);
  std::vector<std::byte> elements(bytes / size * size);
  for (std::size_t at = 0; at < elements.size(); at += size) {
    const std::uint32_t bits = element(format, generator());
    std::memcpy(elements.data() + at, &bits, size);  // the lower bytes come first on x86 and Arm
  }
  return elements;
}

}  // namespace graphline
