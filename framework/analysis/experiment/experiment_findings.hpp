#pragma once

#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/finding.hpp"

namespace graphline {

/// What an experiment shows beside its figures: how arithmetic and time follow a parameter, whether
/// all configurations computed the same, an overlap that did not happen, a priority that changed
/// nothing or took effect, stages bound by their launches, a way of waiting that keeps a core busy,
/// frames dropped or late, and a machine that did not keep still.
std::vector<finding> findings_of(const experiment_record& record,
                                 const experiment_summary& summary);

/// What the trials' runs warned of, each once with all configurations in which they did.
std::vector<finding> trial_warnings(const experiment_record& record);

}  // namespace graphline
