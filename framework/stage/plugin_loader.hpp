#pragma once

#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Adds the stage kinds of the plug-in at `path` to `registry`, all of them or none. A file whose
/// kinds are there already is passed over. The library stays in memory to the end of the program.
/// Throws an `input_error` that names the plug-in and the remedy when it is not there, is no
/// plug-in or was built for another version, when it fails to register, and when a name is taken.
void load_plugin(const std::string& path, stage_registry& registry);

/// What becomes of plug-ins, which are code.
enum class plugin_use { load, refuse };

/// Loads the plug-ins that a pipeline names, relative paths starting at its directory, or at the
/// working directory where `--set` gave them; or refuses each. What is refused is reported at its
/// place. Answers whether all were loaded: if not, a plan would say of kinds that they are unknown
/// when only their plug-in is missing.
bool load_plugins(const pipeline_spec& spec, stage_registry& registry, diagnostics& out,
                  plugin_use use = plugin_use::load);

}  // namespace graphline
