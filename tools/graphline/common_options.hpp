#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/pipeline/run_pipeline.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "framework/stage/stage_registry.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace graphline {

// Options that several commands share.

// Return checks of an option's value that add no description to --help.
CLI::Validator in_range(std::int64_t least, std::int64_t most);
CLI::Validator one_of(const std::vector<std::string>& words);

/// Adds --device.
void add_device_option(CLI::App& command, std::string& device);

/// Adds --quiet.
void add_quiet_option(CLI::App& command, bool& quiet);

/// Adds --no-plugins, for commands on untrusted files.
void add_no_plugins_option(CLI::App& command, plugin_use& use);

/// Adds --plugin. `verb`: what the command does with the plug-ins' kinds.
void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins,
                       const std::string& verb);

/// Returns the built-in kinds and those of these plug-ins.
stage_registry kinds_with(const std::vector<std::string>& plugins);

/// Returns the keys of all settings except those in `excluded`.
std::vector<std::string> settings_except(const std::set<std::string>& excluded);

/// Adds checksums of a plan's files. Reads the files, so does this only if results are to be
/// stored.
void add_checksums(plan& p, const result_outputs& results);

/// Options of all commands that read a pipeline: the file, the device, and overrides of the file's
/// parameters and `run:` section.
class pipeline_options {
 public:
  /// Adds PIPELINE.yaml, --device, --set and an option for each of the `wanted` settings.
  void add_to(CLI::App& command, const std::vector<std::string>& wanted);

  /// Adds --no-plugins, for commands that do not run the pipeline.
  void add_no_plugins_option(CLI::App& command);

  /// Returns the files that a command reads for a plan: the pipeline and its stages' data.
  std::vector<std::string> files_of(const plan& p) const;

  /// Reads, checks and plans the pipeline like `plan_pipeline`. Prints warnings to standard error.
  /// `adjust` changes the settings after the file and the options were applied.
  /// @pre these options outlive the plan
  planned_pipeline plan_to(plan_use use, const std::function<void(settings&)>& adjust = {});

  /// Returns the plan to run.
  plan make_plan(const std::function<void(settings&)>& adjust = {});

  /// Opens the device for a plan.
  std::unique_ptr<device> open_device(const plan& p) const;

 private:
  /// With `--arrival closed`, removes settings of the file that need a schedule.
  void drop_schedule(pipeline_spec& spec);

  stage_registry stages_ = builtin_stages();
  plugin_use plugins_ = plugin_use::load;
  std::string path_;
  std::string device_ = "auto";
  std::vector<std::string> set_;
  std::map<std::string, std::string> overrides_;  ///< text of the option for each setting
};

}  // namespace graphline
