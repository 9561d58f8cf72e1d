#pragma once

#include <memory>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline {

/// Turns an experiment file's text into its spec: the grid of `vary:` is spelled out, and each
/// configuration has its reference. Everything that is wrong in the file itself goes to `out`, all
/// of it at once; whether a varied key exists in the pipeline and takes the value, the planner
/// checks.
experiment_spec read_experiment(std::shared_ptr<const source_text> source, diagnostics& out);

}  // namespace graphline
