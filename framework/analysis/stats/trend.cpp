#include "framework/analysis/stats/trend.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

/// Neighbours taken together, by their median, so that at most some hundred values are left: the
/// number of pairs grows with the square.
std::vector<double> thinned(std::span<const double> values) {
  constexpr std::size_t most = 300;
  const std::size_t group = (values.size() + most - 1) / most;
  std::vector<double> result;
  for (std::size_t i = 0; i + group <= values.size(); i += group) {
    const auto part = values.subspan(i, group);
    result.push_back(median_of({part.begin(), part.end()}));
  }
  return result;
}

}  // namespace

std::optional<double> change_over(std::span<const double> values) {
  if (values.size() < least_for_trend) return std::nullopt;
  const auto points = thinned(values);
  std::vector<double> slopes;
  std::int64_t rising = 0;  // pairs that rise, less those that fall
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double change = points[j] - points[i];
      rising += (change > 0 ? 1 : 0) - (change < 0 ? 1 : 0);
      slopes.push_back(change / static_cast<double>(j - i));
    }
  }
  const auto n = static_cast<double>(points.size());
  const double variance = n * (n - 1) * (2 * n + 5) / 18;
  const double z = (std::abs(static_cast<double>(rising)) - 1) / std::sqrt(variance);
  if (std::erfc(z / std::numbers::sqrt2) >= 0.01) return std::nullopt;
  return median_of(std::move(slopes)) * (n - 1);
}

}  // namespace graphline
