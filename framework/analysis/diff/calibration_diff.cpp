#include "framework/analysis/diff/calibration_diff.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace graphline {

namespace {

struct range {
  double low;
  double high;
};

/// A duration is at its best where it is shortest, a rate where it is highest.
range spread_of(const ceiling_figure& figure) {
  const auto [low, high] = std::minmax(figure.worst, figure.best);
  return {low, high};
}

}  // namespace

figure_change ceiling_change::value() const {
  const auto value_of = [](const std::optional<ceiling_figure>& figure) {
    return figure ? std::optional(figure->value) : std::nullopt;
  };
  return {{value_of(figures.before), value_of(figures.after)}};
}

std::optional<bool> ceiling_change::beyond_spread() const {
  if (!figures.before || !figures.after) return std::nullopt;
  const auto before = spread_of(*figures.before);
  const auto after = spread_of(*figures.after);
  return after.low > before.high || after.high < before.low;
}

calibration_diff compare(const saved_calibration& before, const saved_calibration& after) {
  calibration_diff result{compare(before.origin, after.origin), {}, {}};
  std::erase_if(result.origin.settings,
                [](const fact_change& how) { return !how.texts.before || !how.texts.after; });
  std::map<std::pair<ceiling, precision>, before_after<std::optional<ceiling_figure>>> by_kind;
  for (const auto& figure : before.ceilings) {
    by_kind[{figure.what, figure.arithmetic}].before = figure;
  }
  for (const auto& figure : after.ceilings) {
    by_kind[{figure.what, figure.arithmetic}].after = figure;
  }
  for (const auto& [kind, figures] : by_kind) {
    result.ceilings.push_back({kind.first, kind.second, figures});
  }
  result.interrupted = {before.interrupted, after.interrupted};
  return result;
}

}  // namespace graphline
