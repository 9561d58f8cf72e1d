#pragma once

#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Adds the stage kinds of the plug-in at `path` to `registry`; adds none after an error. Does
/// nothing if the plug-in is already loaded. The library stays in memory until the program ends.
/// @throws input_error with the plug-in and the remedy if the file is missing, is not a plug-in or
/// was built for another version, if its registration fails, or if one of its names is taken
void load_plugin(const std::string& path, stage_registry& registry);

/// Whether to load plug-ins. Loading runs their code.
enum class plugin_use { load, refuse };

/// Loads the plug-ins that a pipeline names and reports an error for each that fails or is refused.
/// Relative paths start at the pipeline's directory or, for `--set`, at the working directory.
/// @return true if all were loaded; otherwise, the planner would report their kinds as unknown
bool load_plugins(const pipeline_spec& spec, stage_registry& registry, diagnostics& out,
                  plugin_use use = plugin_use::load);

}  // namespace graphline
