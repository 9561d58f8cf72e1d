#pragma once

#include <optional>
#include <vector>

#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

/// A row for each ceiling, with the ridge points of those that count. `measured`: the samples and
/// how they were made, in the order of the figures; null where a result does not keep them.
table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured = nullptr,
                    const std::vector<theoretical_peak>& peaks = {});

}  // namespace graphline::report
