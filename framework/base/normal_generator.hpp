#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace graphline {

/// Standard normal numbers from a seed. std::mt19937_64 is fixed by the C++ standard, whereas
/// std::normal_distribution is left to each library, so the numbers are made here: by the polar
/// method (Marsaglia and Bray, 1964), as in NumPy's legacy generator. Beside exact operations it
/// takes one logarithm, so two machines can differ in the last bit of a double at most.
class normal_generator {
 public:
  /// Starts the sequence that belongs to `seed`.
  void seed(std::uint64_t seed);

  /// Fills `values` with the next numbers of the sequence. Numbers are made in pairs; the second
  /// of the last pair is dropped when the size is odd.
  void fill(std::span<double> values);

 private:
  double uniform();

  std::mt19937_64 bits_;
};

}  // namespace graphline
