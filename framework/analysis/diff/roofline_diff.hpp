#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/diff/result_diff.hpp"

namespace graphline {

/// A stage of either roofline, by name; nothing where it is not in one. Times in nanoseconds.
struct floor_change {
  std::string name;
  before_after<std::optional<saved_floor>> stages;

  figure_change measured() const;  ///< the median
  figure_change least() const;
  figure_change ratio() const;  ///< measured over least
};

/// One roofline against another. Two know nothing of how much runs differ from each other, so there
/// are no verdicts.
struct roofline_diff {
  origin_diff origin;                ///< settings: the calibration's date among them
  std::vector<floor_change> stages;  ///< those of the first in its order, then the others
  before_after<bool> interrupted;
  before_after<std::optional<std::string>> failure;
};

roofline_diff compare(const saved_roofline& before, const saved_roofline& after);

}  // namespace graphline
