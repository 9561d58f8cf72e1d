#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// The settings of a `run:` section in an experiment file. A key that is no setting, and a value
/// that the setting does not take, are reported; `section` may be null.
std::vector<assignment> read_run_assignments(const node& section, diagnostics& out);

/// As `check_keys`, for a mapping that has settings in a `run:` of its own: one that stands beside
/// it is told to go there; `where` says so, such as "write it under 'run'".
void check_keys_beside_run(const node& mapping, std::string_view what, std::string_view where,
                           const std::vector<std::string>& known, diagnostics& out);

/// Reports a value that a setting does not take. What a parameter takes only its pipeline knows.
void check_value(const named& key, const node& value, diagnostics& out);

/// The parameters of a `params:` section in an experiment file. Whether the pipeline has them, the
/// planner checks; `section` may be null.
std::vector<assignment> read_parameter_assignments(const node& section, diagnostics& out);

/// The one of these that sets `key`, or null.
const assignment* find_assignment(const std::vector<assignment>& list, std::string_view key);

}  // namespace graphline
