#include "framework/analysis/experiment/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace graphline {

namespace {

// The ends of an interval that says nothing need not be told to the digit.
constexpr int most_percent = 9999;

/// Three digits are enough of a change by more than what there was.
int decimals_at_most(double percent) {
  return std::abs(percent) < 99.95 ? 2 : 0;
}

}  // namespace

std::string percent_change(double ratio, std::optional<int> decimals) {
  const double percent = 100 * (ratio - 1);
  const int shown =
      std::min(decimals.value_or(std::abs(percent) < 1 ? 2 : 1), decimals_at_most(percent));
  if (percent >= most_percent + 0.5) return fmt::format(">+{}", most_percent);
  if (std::abs(percent) < 0.5 * std::pow(10, -shown)) return fmt::format("{:.{}f}", 0.0, shown);
  return fmt::format("{:+.{}f}", percent, shown);
}

const comparison* find_comparison(const experiment_summary& summary, const compared_pair& pair,
                                  figure what) noexcept {
  for (const auto& found : summary.comparisons) {
    if (found.figure == what && found.pair.what == pair.what &&
        found.pair.reference == pair.reference) {
      return &found;
    }
  }
  return nullptr;
}

}  // namespace graphline
