#include "framework/analysis/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "framework/analysis/distribution.hpp"
#include "framework/base/random.hpp"

namespace graphline {

namespace {

/// Index below `count`, by fixed-point multiplication of the upper 32 bits. The standard library's
/// distributions would differ from one implementation to the next.
std::size_t index_from(std::uint64_t random, std::size_t count) {
  return static_cast<std::size_t>(((random >> 32) * count) >> 32);
}

/// The mean of `deviations` over its own standard error.
double studentised(double sum, double squares, double n, double least_variance) {
  const double mean = sum / n;
  const double variance = (squares - n * mean * mean) / (n - 1);
  if (variance > least_variance) return mean / std::sqrt(variance / n);
  // One value drawn over and over: beyond either tail, unless it is the mean itself.
  if (mean == 0) return 0;
  return std::copysign(std::numeric_limits<double>::infinity(), mean);
}

/// The value below which a share `p` of the sorted values lies.
double quantile(const std::vector<double>& sorted, double p) {
  const double rank = std::ceil(p * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

std::optional<interval> mean_interval(std::span<const double> values, std::uint64_t seed,
                                      std::size_t resamples) {
  if (values.size() < least_for_interval || resamples == 0) return std::nullopt;
  const double n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  const double spread = stddev_of(values).value_or(0);
  if (spread == 0) return interval{mean, mean};

  std::vector<double> deviations(values.begin(), values.end());
  for (double& d : deviations) d -= mean;

  // What rounding leaves of the variance of equal values, with a wide margin.
  const double least_variance = 1e-12 * spread * spread;
  std::vector<double> t(resamples);
  std::uint64_t draw = 0;
  for (double& one : t) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < deviations.size(); ++i) {
      const double d = deviations[index_from(mix_seed(seed, draw++), deviations.size())];
      sum += d;
      squares += d * d;
    }
    one = studentised(sum, squares, n, least_variance);
  }
  std::sort(t.begin(), t.end());

  const double standard_error = spread / std::sqrt(n);
  const interval result{mean - quantile(t, 0.975) * standard_error,
                        mean - quantile(t, 0.025) * standard_error};
  if (!std::isfinite(result.low) || !std::isfinite(result.high)) return std::nullopt;
  return result;
}

}  // namespace graphline
