#pragma once

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_settings.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// The keys of an experiment file that say how it is carried out and judged.
const std::vector<std::string>& experiment_setting_keys();

/// Reads these keys of an experiment file; others are passed over.
experiment_settings read_experiment_settings(const node& root, diagnostics& out);

}  // namespace graphline
