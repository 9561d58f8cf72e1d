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

/// Returns the names of these keys, which the command line also uses.
const std::vector<std::string>& setting_keys();
bool is_setting(const std::string& key);

/// Sets one setting. An invalid key or value is reported and changes nothing.
void read_setting(settings& run, const std::string& key, const node& value, diagnostics& out);

/// Same as above, and records the place or the failure in `places`.
void read_setting(settings& run, settings_places& places, const std::string& key, const node& value,
                  diagnostics& out);

/// Reads a `run:` section and the places of its settings; `section` may be null.
void read_settings(settings& run, settings_places& places, const node& section, diagnostics& out);

/// Reads a `run:` section of an experiment file and reports invalid keys and values; `section` may
/// be null.
std::vector<assignment> read_run_assignments(const node& section, diagnostics& out);

/// Reports a value that is invalid for its setting. Does not check parameters of the pipeline.
void check_value(const named& key, const node& value, diagnostics& out);

/// Reads a `params:` section of an experiment file; `section` may be null. The planner checks
/// whether the pipeline has these parameters.
std::vector<assignment> read_parameter_assignments(const node& section, diagnostics& out);

}  // namespace graphline
