#include "framework/analysis/experiment/verdicts.hpp"

#include <cmath>

#include "framework/analysis/stats/confidence.hpp"

namespace graphline {
namespace {

/// Whether `blocks` blocks would decide the ratio in four of five repetitions.
bool would_decide(const undecided_ratio& ratio, double blocks, double seen_blocks) {
  constexpr double four_of_five = 0.84;  // standard deviations on one side
  const double t = student_t_critical(ratio.level, static_cast<std::size_t>(blocks) - 1);
  const double reach = (t + four_of_five) * ratio.error * std::sqrt(seen_blocks / blocks);
  const bool different = std::abs(ratio.log_ratio) > reach;
  const bool same = ratio.log_ratio + reach <= std::log1p(ratio.margin) &&
                    ratio.log_ratio - reach >= std::log1p(-ratio.margin);
  return different || same;
}

}  // namespace

verdict verdict_of(const interval& ratio, double margin, bool more_is_faster) {
  if (ratio.low >= 1 - margin && ratio.high <= 1 + margin) return verdict::same;
  if (ratio.contains(1)) return verdict::inconclusive;
  return (ratio.low > 1) == more_is_faster ? verdict::faster : verdict::slower;
}

std::optional<std::int64_t> blocks_to_decide(const undecided_ratio& ratio, std::size_t blocks) {
  const auto seen = static_cast<double>(blocks);
  const auto enough = [&](std::int64_t more) {
    return would_decide(ratio, seen + static_cast<double>(more), seen);
  };
  if (!enough(most_more_trials)) return std::nullopt;
  std::int64_t low = 0;
  std::int64_t high = most_more_trials;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace graphline
