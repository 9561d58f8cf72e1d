#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"

namespace graphline {

/// What the runs of one pipeline of a configuration say together; `tail` as a part of 1. A figure
/// that no run carries is absent.
member_summary summarize_member(std::string name, std::span<const run_record* const> runs,
                                double tail);

/// The measure that stands for a stage's time under a run's timing method; nothing where stages are
/// not timed.
std::optional<measure> first_measure(const stage_record& stage, const settings& run);

/// The stage of a run with that name; null where there is none: stages can depend on parameters.
const stage_record* find_stage(const run_record& run, const std::string& name);

}  // namespace graphline
