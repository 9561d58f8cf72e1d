#include "framework/analysis/stats/percentile_bound.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

/// Returns the variance of the number of late frames per batch / that of independent frames; >= 1.
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

/// Maps `never` to empty.
std::optional<nanoseconds> ended(nanoseconds value) {
  return value == never ? std::nullopt : std::optional(value);
}

void judge(bound_check& to, const std::vector<nanoseconds>& sorted, double p, nanoseconds bound,
           double outside) {
  const auto n = static_cast<std::size_t>(static_cast<double>(sorted.size()) / to.clustering);
  const auto [low, high] = interval_ranks(p, n, sorted.size(), outside);
  if (low > 0) to.low = ended(sorted[low - 1]);
  if (high > 0) to.high = ended(sorted[high - 1]);
  if (high > 0 && sorted[high - 1] <= bound) to.verdict = bound_verdict::holds;
  if (low > 0 && sorted[low - 1] > bound) to.verdict = bound_verdict::fails;
}

}  // namespace

std::size_t frames_to_hold(double p) {
  constexpr double doubt = 0.025;  // probability that all frames lie below the percentile
  return static_cast<std::size_t>(std::ceil(std::log(doubt) / std::log(p)));
}

bound_check check_bound(const std::vector<std::vector<nanoseconds>>& runs, double p,
                        nanoseconds bound, double outside) {
  bound_check result;
  std::vector<nanoseconds> sorted;
  for (const auto& run : runs) sorted.insert(sorted.end(), run.begin(), run.end());
  if (sorted.empty()) return result;
  std::sort(sorted.begin(), sorted.end());
  result.frames = sorted.size();
  result.late = static_cast<std::size_t>(sorted.end() -
                                         std::upper_bound(sorted.begin(), sorted.end(), bound));
  result.p50 = ended(sorted[rank_of(0.5, sorted.size())]);
  result.value = ended(sorted[rank_of(p, sorted.size())]);
  result.clustering = clustering_of(runs, result, bound);
  judge(result, sorted, p, bound, outside);
  return result;
}

}  // namespace graphline
