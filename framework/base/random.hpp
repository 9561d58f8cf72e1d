#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace graphline {

/// Mixes two 64-bit values into one (the finaliser of SplitMix64, Steele et al. 2014, applied to
/// their combination). Used to derive independent seeds from (seed, stage, frame).
inline std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// A 64-bit seed from a name (FNV-1a), so that a stage draws the same numbers wherever it stands.
inline std::uint64_t seed_from(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

/// Uniform in [0, 1): the upper 53 bits of the next draw, all that a double holds. The same on
/// every machine, which std::uniform_real_distribution is not.
inline double uniform_unit(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

/// Puts items in random order: Fisher-Yates with a reduction of our own, so that a seed gives the
/// same order on every machine, which std::shuffle does not.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& generator) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[generator() % i]);
}

/// Standard normal numbers from a seed. std::mt19937_64 is fixed by the C++ standard, whereas
/// std::normal_distribution is left to each library, so the numbers are made here: by the polar
/// method (Marsaglia and Bray, 1964), as in NumPy's legacy generator. Beside exact operations it
/// takes one logarithm, so two machines can differ in the last bit of a double at most.
class normal_generator {
 public:
  /// Starts the sequence that belongs to `seed`.
  void seed(std::uint64_t seed) { bits_.seed(seed); }

  /// Fills `values` with the next numbers of the sequence. Numbers are made in pairs; the second
  /// of the last pair is dropped when the size is odd.
  void fill(std::span<double> values);

 private:
  std::mt19937_64 bits_;
};

}  // namespace graphline
