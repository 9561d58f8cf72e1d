#include "framework/analysis/stats/rank_correlation.hpp"

#include <cmath>
#include <cstddef>

namespace graphline {

std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b) {
  double concordant = 0;  // minus discordant pairs
  double differ_in_a = 0;
  double differ_in_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]);
      const int in_b = (b[i] > b[j]) - (b[i] < b[j]);
      concordant += in_a * in_b;
      differ_in_a += in_a * in_a;
      differ_in_b += in_b * in_b;
    }
  }
  if (differ_in_a == 0 || differ_in_b == 0) return std::nullopt;
  return concordant / std::sqrt(differ_in_a * differ_in_b);
}

}  // namespace graphline
