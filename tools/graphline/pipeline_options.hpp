#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/pipeline/run_pipeline.hpp"
#include "framework/stage/stage_registry.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// Adds checksums of the files that a plan reads, which take as long as reading them, if there are
/// results to keep them in.
void add_checksums(plan& p, const result_outputs& results);

/// The keys of all settings but some.
std::vector<std::string> settings_but(const std::set<std::string>& left_out);

/// The part of the command line that all commands on a pipeline share: the file, the device and
/// what overrides the file's `run:` section.
class pipeline_options {
 public:
  /// Adds PIPELINE.yaml, --device, --set and an option for each of these settings.
  void add_to(CLI::App& command, const std::vector<std::string>& wanted);

  /// Adds --no-plugins, for commands that only look at a pipeline.
  void add_no_plugins_option(CLI::App& command);

  /// What commands read for a plan: the pipeline's file, as it was given, and what its stages take
  /// from files.
  std::vector<std::string> files_of(const plan& p) const;

  /// Reads, checks and plans the pipeline as `plan_pipeline` does. Warnings go to standard error.
  /// These options must outlive the plan. `adjust` has the last word on the settings, after the
  /// file and the options.
  planned_pipeline plan_to(plan_use use, const std::function<void(settings&)>& adjust = {});

  /// The plan to run.
  plan make_plan(const std::function<void(settings&)>& adjust = {});

  /// Opens the device for a plan.
  std::unique_ptr<device> open_device(const plan& p) const;

 private:
  /// `--arrival closed` takes the place of the file's schedule, and so of what goes with one there.
  void drop_schedule(pipeline_spec& spec);

  stage_registry stages_ = builtin_stages();
  plugin_use plugins_ = plugin_use::load;
  std::string path_;
  std::string device_ = "auto";
  std::vector<std::string> set_;
  std::map<std::string, std::string> overrides_;  ///< setting to the text given for it
};

}  // namespace graphline
