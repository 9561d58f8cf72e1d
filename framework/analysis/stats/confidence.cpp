#include "framework/analysis/stats/confidence.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

namespace bm = boost::math;

// The functions do not throw. They return infinity on overflow, and the best estimate if a search
// does not converge. A binomial quantile is the smallest value that reaches the probability.
using policy =
    bm::policies::policy<bm::policies::promote_double<false>,
                         bm::policies::overflow_error<bm::policies::ignore_error>,
                         bm::policies::evaluation_error<bm::policies::ignore_error>,
                         bm::policies::discrete_quantile<bm::policies::integer_round_up>>;

/// Replaces groups of neighbors by their medians, so that at most 300 values remain. This limits
/// the number of pairs.
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

double normal_critical(double level) {
  return quantile(complement(bm::normal_distribution<double, policy>(), level / 2));
}

double student_t_critical(double level, std::size_t freedom) {
  const bm::students_t_distribution<double, policy> t(static_cast<double>(freedom));
  return quantile(complement(t, level / 2));
}

rank_interval interval_ranks(double p, std::size_t independent, std::size_t count, double outside) {
  const auto n = static_cast<double>(independent);
  const auto rank_in_sample = [&](double rank) -> std::size_t {
    if (rank < 1 || rank > n) return 0;
    return (static_cast<std::size_t>(rank) * count + independent - 1) / independent;
  };
  const bm::binomial_distribution<double, policy> below(n, p);  // values below the percentile
  return {rank_in_sample(quantile(below, outside)),
          rank_in_sample(quantile(complement(below, outside)) + 1)};
}

std::optional<double> change_over(std::span<const double> values) {
  if (values.size() < least_for_trend) return std::nullopt;
  const auto points = thinned(values);
  std::vector<double> slopes;
  std::int64_t rising = 0;  // rising pairs minus falling pairs
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
