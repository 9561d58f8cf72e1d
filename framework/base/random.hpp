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
/// independent seeds from the run's seed, the stage and the frame.
inline std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Hashes a name to 64 bits (FNV-1a). Seeds from names do not change when stages are reordered.
inline std::uint64_t seed_from(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

/// Returns a uniform number in [0, 1) from the upper 53 bits of the next draw. Gives the same
/// numbers on every platform, unlike std::uniform_real_distribution.
inline double uniform_unit(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

/// Fisher-Yates shuffle. Gives the same order on every platform, unlike std::shuffle.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& generator) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[generator() % i]);
}

/// Generates standard normal numbers by the polar method (Marsaglia and Bray, 1964), like NumPy's
/// legacy generator. Results on different machines differ at most by the rounding of `std::log`.
class normal_generator {
 public:
  void seed(std::uint64_t seed) { bits_.seed(seed); }

  /// Fills `values` with the next numbers, which are generated in pairs. If the size is odd, the
  /// second number of the last pair is discarded.
  void fill(std::span<double> values);

 private:
  std::mt19937_64 bits_;
};

}  // namespace graphline
