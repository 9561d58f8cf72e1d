#pragma once

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// The keys of a `run:` section: what can be set about a run, what it takes and its default.
const std::vector<parameter>& run_keys();

/// Their names, which are also the words a command line sets them by.
const std::vector<std::string>& setting_keys();
bool is_setting(const std::string& key);

/// Sets one of them. What is wrong with the key or the value goes to `out` and changes nothing.
void read_setting(settings& run, const std::string& key, const node& value, diagnostics& out);

/// The same, and notes where the setting was written if it could be read.
void read_setting(settings& run, settings_places& places, const std::string& key, const node& value,
                  diagnostics& out);

/// Reads a whole `run:` section, noting the places; nothing at all leaves the settings as they are.
void read_settings(settings& run, settings_places& places, const node& section, diagnostics& out);

/// The settings of a `run:` section in an experiment file. A key that is no setting, and a value
/// that the setting does not take, are reported; `section` may be null.
std::vector<assignment> read_run_assignments(const node& section, diagnostics& out);

/// Reports a value that a setting does not take. What a parameter takes only its pipeline knows.
void check_value(const named& key, const node& value, diagnostics& out);

/// The parameters of a `params:` section in an experiment file. Whether the pipeline has them, the
/// planner checks; `section` may be null.
std::vector<assignment> read_parameter_assignments(const node& section, diagnostics& out);

}  // namespace graphline
