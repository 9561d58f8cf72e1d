#include "framework/analysis/stats/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace graphline {
namespace {

/// The probability of exactly `k` heads in `n` throws of a fair coin, in logarithms for large n.
double heads(std::size_t k, std::size_t n) {
  const auto log_factorial = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) -
                  static_cast<double>(n) * std::numbers::ln2);
}

/// How many values are cut off at either end: the most for which 2.5 % at most is lost on each
/// side.
std::size_t values_cut(std::size_t n) {
  double lost = 0;
  std::size_t cut = 0;
  while (lost + heads(cut, n) <= 0.025) lost += heads(cut++, n);
  return cut;
}

}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<interval> median_interval(std::span<const double> values) {
  if (values.size() < least_for_interval) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t k = values_cut(sorted.size());  // at least 1 from six values on
  return interval{sorted[k - 1], sorted[sorted.size() - k]};
}

}  // namespace graphline
