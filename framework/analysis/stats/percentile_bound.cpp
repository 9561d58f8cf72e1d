#include "framework/analysis/stats/percentile_bound.hpp"

#include <algorithm>
#include <cmath>

namespace graphline {
namespace {

constexpr double doubt = 0.025;  // on either side of the interval

/// The probability of exactly `k` late frames, in logarithms for large n.
double binomial(std::size_t k, std::size_t n, double q) {
  const auto log_factorial = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) +
                  static_cast<double>(k) * std::log(q) +
                  static_cast<double>(n - k) * std::log1p(-q));
}

/// How often the variance of late frames per batch holds that of independent frames; at least 1.
double clustering_of(const std::vector<std::vector<nanoseconds>>& runs, const bound_check& all,
                     nanoseconds bound) {
  constexpr std::size_t batches = 20;
  const double share = all.late_share();
  const std::size_t length = all.frames / batches;
  if (share <= 0 || share >= 1 || length < 2) return 1;
  const double expected = share * static_cast<double>(length);
  double squares = 0;
  std::size_t count = 0;
  for (const auto& run : runs) {
    for (std::size_t at = 0; at + length <= run.size(); at += length, ++count) {
      const auto* begin = run.data() + at;
      const auto late =
          std::count_if(begin, begin + length, [bound](nanoseconds t) { return t > bound; });
      squares += (static_cast<double>(late) - expected) * (static_cast<double>(late) - expected);
    }
  }
  if (count < 2) return 1;
  return std::max(1.0, squares / static_cast<double>(count - 1) / (expected * (1 - share)));
}

/// A value of the sorted sample; nothing for a frame that never ended.
std::optional<nanoseconds> ended(nanoseconds value) {
  return value == never ? std::nullopt : std::optional(value);
}

/// Sets the interval and the verdict.
void judge(bound_check& to, const std::vector<nanoseconds>& sorted, double p, nanoseconds bound) {
  const auto n = static_cast<std::size_t>(static_cast<double>(sorted.size()) / to.clustering);
  const auto value_at = [&](std::size_t rank) {
    // The k-th of n that count as independent stands for as large a part of all that there are.
    return sorted[(rank * sorted.size() + n - 1) / n - 1];
  };
  const auto [low, high] = interval_ranks(p, n);
  if (low > 0) to.low = ended(value_at(low));
  if (high > 0) to.high = ended(value_at(high));
  if (high > 0 && value_at(high) <= bound) to.verdict = bound_verdict::holds;
  if (low > 0 && value_at(low) > bound) to.verdict = bound_verdict::fails;
}

}  // namespace

rank_interval interval_ranks(double p, std::size_t count) {
  // What lies farther below than ten standard deviations is lost in rounding.
  const double n = static_cast<double>(count);
  const double first = n * p - 10 * std::sqrt(n * p * (1 - p)) - 10;
  rank_interval found;
  double below = 0;  // P(fewer than `rank` values lie below the percentile)
  for (auto rank = static_cast<std::size_t>(std::max(first, 1.0)); rank <= count && !found.high;
       ++rank) {
    below += binomial(rank - 1, count, p);
    if (below <= doubt) found.low = rank;
    if (1 - below <= doubt) found.high = rank;
  }
  return found;
}

std::size_t frames_to_hold(double p) {
  return static_cast<std::size_t>(std::ceil(std::log(doubt) / std::log(p)));
}

bound_check check_bound(const std::vector<std::vector<nanoseconds>>& runs, double p,
                        nanoseconds bound) {
  bound_check result;
  std::vector<nanoseconds> sorted;
  for (const auto& run : runs) sorted.insert(sorted.end(), run.begin(), run.end());
  if (sorted.empty()) return result;
  std::sort(sorted.begin(), sorted.end());
  result.frames = sorted.size();
  result.late = static_cast<std::size_t>(sorted.end() -
                                         std::upper_bound(sorted.begin(), sorted.end(), bound));
  const auto at_part = [&](double part) {
    constexpr double just_below_one = 1 - 1e-12;  // as in `distribution::percentile`
    const double rank = std::ceil(part * static_cast<double>(sorted.size()) * just_below_one);
    return ended(sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
  };
  result.p50 = at_part(0.5);
  result.value = at_part(p);
  result.clustering = clustering_of(runs, result, bound);
  judge(result, sorted, p, bound);
  return result;
}

}  // namespace graphline
