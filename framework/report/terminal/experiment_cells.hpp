#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"

namespace graphline {

// Figures of an experiment as every report writes them.

/// Decimals of changes in percent: so many that the ends of the p50's intervals can be told apart.
int change_decimals(const experiment_summary& summary);

/// About how many more trials of each would decide a comparison, in two digits, since it is a rough
/// figure. Nothing of what has no interval yet; null is no comparison.
std::optional<std::int64_t> more_to_decide(const comparison* found);

/// What each pipeline took beside time: spread between trials, cores, memory, and frames late or
/// dropped; without what is not known of any.
struct experiment_costs {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;  ///< as the members that were asked for
};
experiment_costs costs_of(const experiment_summary& summary,
                          const std::vector<configuration_member>& members);

}  // namespace graphline
