#pragma once

#include <vector>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"

namespace graphline {

/// Every pair of a record by every figure that the counted trials of both carry, by pair, then
/// figure. Without intervals below `least_blocks` blocks.
std::vector<comparison> compare_figures(const counted_trials& trials,
                                        const experiment_record& record);

/// The stages of every pair that both have by name, timed in the same way; `summaries` are those of
/// the same trials.
std::vector<stage_comparison> compare_stages(const counted_trials& trials,
                                             const experiment_record& record,
                                             const std::vector<configuration_summary>& summaries);

}  // namespace graphline
