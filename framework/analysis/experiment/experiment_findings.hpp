#pragma once

#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"

namespace graphline {

/// What an experiment shows beside its figures, in sentences, each with the figure that shows it:
/// how arithmetic and time follow a parameter, whether all configurations computed the same, an
/// overlap that did not happen, a priority that changed nothing or took effect, stages bound by
/// their launches, a way of waiting that keeps a core busy, frames dropped or late, and a machine
/// that did not keep still.
std::vector<std::string> findings_of(const experiment_record& record,
                                     const experiment_summary& summary);

}  // namespace graphline
