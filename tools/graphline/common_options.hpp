#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/stage/plugin_loader.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

// Options that several commands take.

// For an option that takes a number of this range, or one of these words; they add nothing to what
// --help says of it.
CLI::Validator in_range(std::int64_t least, std::int64_t most);
CLI::Validator one_of(const std::vector<std::string>& words);

/// Adds --device.
void add_device_option(CLI::App& command, std::string& device);

/// Adds --quiet, with what it keeps a command from printing.
void add_quiet_option(CLI::App& command, bool& quiet);

/// Adds --no-plugins, for commands on files of somebody else.
void add_no_plugins_option(CLI::App& command, plugin_use& use);

/// Adds --plugin, which a word that is no file may follow. `what`: is done with its kinds.
void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins,
                       const std::string& what);

/// The kinds of this program and of these plug-ins.
stage_registry kinds_with(const std::vector<std::string>& plugins);

}  // namespace graphline
