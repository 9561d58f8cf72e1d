#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace graphline {

/// Mixes two 64-bit values into one (finalizer of SplitMix64, Steele et al. 2014). Derives
/// independent seeds from seed, stage and frame.
inline std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// A 64-bit seed from a name (FNV-1a), so that a stage's numbers do not depend on its position.
inline std::uint64_t seed_from(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

/// Uniform in [0, 1), from the upper 53 bits of the next draw. Portable, unlike
/// std::uniform_real_distribution.
inline double uniform_unit(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

/// Fisher-Yates shuffle. Portable for a given seed, unlike std::shuffle.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& generator) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[generator() % i]);
}

/// Standard normal numbers by the polar method (Marsaglia and Bray, 1964), as in NumPy's legacy
/// generator. Portable, unlike std::normal_distribution: machines differ at most in the rounding of
/// one logarithm.
class normal_generator {
 public:
  void seed(std::uint64_t seed) { bits_.seed(seed); }

  /// Fills `values` with the next numbers. Numbers are generated in pairs; an odd size drops the
  /// last one.
  void fill(std::span<double> values);

 private:
  std::mt19937_64 bits_;
};

}  // namespace graphline
