#pragma once

#include <optional>
#include <vector>

#include "framework/analysis/diff/result_diff.hpp"

namespace graphline {

/// A ceiling of either calibration; nothing where one has not measured it.
struct ceiling_change {
  ceiling what = ceiling::read;
  precision arithmetic = precision::float32;
  before_after<std::optional<ceiling_figure>> figures;

  /// At the median time.
  figure_change value() const;

  /// Whether all of one lies beyond the other, each from its 10th to its 90th percentile time;
  /// nothing where only one has measured it.
  std::optional<bool> beyond_spread() const;
};

/// One calibration against another. Two know nothing of how much calibrations differ from each
/// other, so there are no verdicts.
struct calibration_diff {
  /// Settings: how a ceiling was measured, where both have it and not in the same way.
  origin_diff origin;
  std::vector<ceiling_change> ceilings;  ///< in the order of `ceiling`, then of `precision`
  before_after<bool> interrupted;
};

calibration_diff compare(const saved_calibration& before, const saved_calibration& after);

}  // namespace graphline
