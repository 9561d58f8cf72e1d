#pragma once

#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Adds the stage kinds of the plug-in at `path` to `registry`: all of them or, if one fails, none.
/// Does nothing if they were added before. The library stays in memory until the program ends.
/// @throws input_error that names the plug-in and the remedy if the file does not exist, is not a
/// plug-in or was built for another version, if its registration throws, or if a name is taken
void load_plugin(const std::string& path, stage_registry& registry);

/// Whether to load plug-ins; loading runs their code.
enum class plugin_use { load, refuse };

/// Loads the plug-ins that a pipeline names, or refuses each. Relative paths start at the
/// pipeline's directory or, if `--set` gave them, at the working directory. Reports each refused
/// plug-in at its place.
/// @return whether all were loaded; if not, the planner would report their kinds as unknown
bool load_plugins(const pipeline_spec& spec, stage_registry& registry, diagnostics& out,
                  plugin_use use = plugin_use::load);

}  // namespace graphline
