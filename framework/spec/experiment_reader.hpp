#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// Returns the top-level keys of an experiment file. Users may add keys that begin with "x-".
const std::vector<parameter>& experiment_keys();

/// Returns the keys of a member of `together:`.
const std::vector<parameter>& member_keys();

/// Reads an experiment file, expands the grid of `vary:` and finds each configuration's reference.
/// The planner later checks the varied keys and values against the pipeline.
experiment_spec read_experiment(std::shared_ptr<const source_text> source, diagnostics& out);

/// Returns the keys of `experiment_settings`.
const std::vector<parameter>& experiment_setting_keys();

/// Reads the keys of `experiment_settings` and ignores all other keys.
experiment_settings read_experiment_settings(const node& root, diagnostics& out);

}  // namespace graphline
