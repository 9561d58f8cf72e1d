#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/finding.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline::samples {

/// Formats each finding as "key(subject, subject) figure=1.50 ms other=text [case]", with
/// contributions as "pieces=5.00 ms/95.2 %/cpu time/after, ...".
std::vector<std::string> texts_of(const std::vector<finding>& list);

/// Formats the findings of a record.
std::vector<std::string> findings(const experiment_record& record,
                                  const experiment_summary& summary);

/// Formats the findings of a record without comparisons.
std::vector<std::string> findings(const experiment_record& record);

std::vector<std::string_view> keys(const std::vector<finding>& list);

/// Returns the metric `name` of a finding, which must be a number.
double figure_of(const finding& of, std::string_view name);

}  // namespace graphline::samples
