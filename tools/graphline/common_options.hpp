#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/campaign/predict/prediction.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/pipeline/open_devices.hpp"
#include "framework/run/pipeline/run_pipeline.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "framework/stage/stage_registry.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace graphline {

// Options that several commands share.

// Checks of option values. They add no description to --help.
CLI::Validator in_range(std::int64_t least, std::int64_t most);
CLI::Validator one_of(const std::vector<std::string>& words);

void add_device_option(CLI::App& command, std::string& device);

void add_quiet_option(CLI::App& command, bool& quiet);

/// Adds --no-plugins, for commands that read untrusted files.
void add_no_plugins_option(CLI::App& command, plugin_use& use);

/// Adds --plugin. `verb`: what the command does with the kinds of the plug-ins.
void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins,
                       const std::string& verb);

/// Adds an option that names results for `read_sources`. `use`: the help up to "a result".
CLI::Option* add_sources_option(CLI::App& command, const std::string& option,
                                std::vector<std::string>& files, const std::string& use);

/// Adds --predict, for commands that can run in virtual time.
CLI::Option* add_predict_option(CLI::App& command, std::vector<std::string>& files);

/// Reads the results of runs that `option` names. @throws input_error that names the file
std::vector<prediction_source> read_sources(const std::vector<std::string>& files,
                                            std::string_view option);

/// Splits "name=value". @throws input_error that names the option and what was expected
std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     std::string_view option,
                                                     std::string_view expected);

/// Returns the built-in kinds and the kinds of the plug-ins.
stage_registry kinds_with(const std::vector<std::string>& plugins);

/// Replaces {rank} and {local} in a device's name. Of a `cuda` device without an index, takes the
/// one whose index is `local_rank`, modulo the number of devices.
std::string device_of_rank(std::string device, int rank, int local_rank);

/// Reads an experiment and plans each configuration. Adds the kinds of the experiment's plug-ins to
/// `stages`, which must outlive the plan.
/// @param warns Print warnings to standard error.
/// @throws input_error with all errors at once
experiment_plan plan_experiment_file(const std::string& path, const std::string& device,
                                     plan_use use, stage_registry& stages,
                                     plugin_use plugins = plugin_use::load, bool warns = true);

std::vector<std::string> settings_except(const std::set<std::string>& excluded);

/// Adds checksums of a plan's files and of the results that it uses. It reads the files, so does
/// nothing if no result is stored.
void add_checksums(plan& p, const result_outputs& results,
                   const std::vector<std::string>& sources = {});

/// Options of the commands that read a pipeline: the file, the device, and values that override the
/// parameters and the `run:` section of the file.
class pipeline_options {
 public:
  /// Adds PIPELINE.yaml, --device, --set and an option for each of the `wanted` settings.
  void add_to(CLI::App& command, const std::vector<std::string>& wanted);

  /// Adds --no-plugins, for commands that do not run the pipeline.
  void add_no_plugins_option(CLI::App& command);

  /// Returns true if the file is an experiment. Returns false for files that cannot
  /// be read, and for pipes, which can be read only once.
  bool names_experiment() const;

  /// Returns the pipeline of an ONNX model as a file in `folder` would have it.
  /// @throws input_error if the file given is a pipeline, or like `pipeline_of_model`
  std::string model_pipeline(const std::string& folder) const;

  /// Returns an option that overrides a setting or a parameter of the file; empty if none does.
  std::string override_given() const;

  const std::string& path() const noexcept { return path_; }

  /// Sets the device if the command line gives none.
  void default_device(const std::string& backend) {
    if (device_ == "auto") {
      device_ = backend;
      device_is_default_ = true;
    }
  }

  /// Returns the files behind a plan: the pipeline, the data of its stages, and `sources`.
  std::vector<std::string> files_of(const plan& p,
                                    const std::vector<std::string>& sources = {}) const;

  /// Reads, checks and plans the pipeline like `plan_pipeline`. Prints warnings to standard error
  /// if `warns`. `adjust` changes the settings after the options are applied, and `change` then the
  /// pipeline; `set` adds to --set.
  /// @pre these options outlive the plan
  planned_pipeline plan_to(plan_use use, const std::function<void(settings&)>& adjust = {},
                           bool warns = true,
                           const std::vector<std::pair<std::string, std::string>>& set = {},
                           const std::function<void(pipeline_spec&)>& change = {});

  /// Kinds of stages for the plans, to which more may be added.
  stage_registry& stages() noexcept { return stages_; }

  /// Returns an experiment on the pipeline, with its options as settings and parameters of all
  /// configurations, and without configurations.
  experiment_spec as_experiment() const;

  /// Takes the device of this rank; see `device_of_rank`.
  void choose_device_of_rank(int rank, int local_rank) {
    device_ = device_of_rank(device_, rank, local_rank);
  }

  const std::string& device_name() const noexcept { return device_; }

  /// Returns the plan to run.
  plan make_plan(const std::function<void(settings&)>& adjust = {});

  open_devices open_devices_of(const plan& p) const;

 private:
  bool names_model() const { return path_.ends_with(".onnx"); }

  std::vector<std::pair<std::string, std::string>> parameters() const;

  /// With `--arrival closed`, removes the file's settings that need a schedule.
  void drop_schedule(pipeline_spec& spec);

  stage_registry stages_ = builtin_stages();
  plugin_use plugins_ = plugin_use::load;
  std::string path_;
  std::string device_ = "auto";
  bool device_is_default_ = false;
  std::vector<std::string> set_;
  std::map<std::string, std::string> overrides_;  ///< option text by key of the setting
};

}  // namespace graphline
