#pragma once

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// Returns the keys of a `run:` section.
const std::vector<parameter>& run_keys();

/// Returns the names of `run_keys()`.
const std::vector<std::string>& setting_keys();
bool is_setting(const std::string& key);

/// Sets one setting. An invalid key or value is reported and changes nothing. A relative path is
/// joined to the folder of the file that gives the value.
void read_setting(settings& run, const std::string& key, const node& value, diagnostics& out);

/// Same as above, and records the place or the failure in `places`.
void read_setting(settings& run, settings_places& places, const std::string& key, const node& value,
                  diagnostics& out);

/// Reads a `run:` section, which may be null, and records the places of its settings.
void read_settings(settings& run, settings_places& places, const node& section, diagnostics& out);

/// Reads an experiment's `run:` section, which may be null. Reports invalid keys and values.
std::vector<assignment> read_run_assignments(const node& section, diagnostics& out);

/// Reports a value that is invalid for the setting `key`. Ignores other keys.
void check_value(const named& key, const node& value, diagnostics& out);

/// Reads an experiment's `params:` section, which may be null. The planner checks the names.
std::vector<assignment> read_parameter_assignments(const node& section, diagnostics& out);

}  // namespace graphline
