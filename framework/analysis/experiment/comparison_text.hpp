#pragma once

#include <optional>
#include <string>

#include "framework/analysis/experiment/experiment_summary.hpp"

namespace graphline {

// How reports put comparisons into words.

/// By how many percent a ratio is off 1, with its sign: "-18.8", "+0.31"; "0.0" for what rounds to
/// nothing. `decimals` unset: one, and two below one percent.
std::string percent_change(double ratio, std::optional<int> decimals = std::nullopt);

/// The comparison of a pair by a figure; null where there is none.
const comparison* find_comparison(const experiment_summary& summary, const compared_pair& pair,
                                  figure what) noexcept;

}  // namespace graphline
