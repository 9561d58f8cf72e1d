#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// The keys at the top of an experiment file. Those that begin with "x-" are the writer's own.
const std::vector<parameter>& experiment_keys();

/// The keys of a member of `together:`.
const std::vector<parameter>& member_keys();

/// Turns an experiment file's text into its spec: the grid of `vary:` is spelled out, and each
/// configuration has its reference. Everything that is wrong in the file itself goes to `out`, all
/// of it at once; whether a varied key exists in the pipeline and takes the value, the planner
/// checks.
experiment_spec read_experiment(std::shared_ptr<const source_text> source, diagnostics& out);

/// The keys of an experiment file that say how it is carried out and judged.
const std::vector<parameter>& experiment_setting_keys();

/// Reads these keys of an experiment file; others are passed over.
experiment_settings read_experiment_settings(const node& root, diagnostics& out);

}  // namespace graphline
