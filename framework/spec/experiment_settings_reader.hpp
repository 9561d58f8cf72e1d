#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_settings.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// The keys of an experiment file that say how it is carried out and judged.
const std::vector<parameter>& experiment_setting_keys();

/// Reads these keys of an experiment file; others are passed over.
experiment_settings read_experiment_settings(const node& root, diagnostics& out);

}  // namespace graphline
