#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/stage/stage_registry.hpp"
#include "stages/builtin.hpp"

namespace CLI {
class App;
}

namespace graphline {

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

  /// The machine the plan is for; `to_read`, also one without a device that this program has.
  /// Throws what `device_list::resolve` throws, but before that what is wrong in the file.
  plan_target target(bool to_read);

  /// Reads, checks and plans the pipeline, with the kinds of its plug-ins. Warnings go to standard
  /// error; everything wrong is thrown as one `input_error`. These options must outlive the plan.
  /// `adjust` has the last word on the settings, after the file and the options.
  plan make_plan(const std::function<void(settings&)>& adjust = {});

  /// The same with the file's settings for such a machine.
  plan make_plan_for(const plan_target& machine);

  /// The same with the file's settings, for a plan to be read and not run: the device need not be
  /// there, nor in this build, and says only whose parameters count; memory is not checked.
  plan make_plan_without_device();

  /// Opens the device for a plan.
  std::unique_ptr<device> open_device(const plan& p) const;

 private:
  /// `--arrival closed` takes the place of the file's schedule, and so of what goes with one there.
  void drop_schedule(pipeline_spec& spec);

  /// `backend`: whose parameters count.
  plan make_plan(const std::string& backend, const plan_target& machine,
                 const std::function<void(settings&)>& adjust);

  stage_registry stages_ = builtin_stages();
  plugin_use plugins_ = plugin_use::load;
  std::string path_;
  std::string device_ = "auto";
  std::vector<std::string> set_;
  std::map<std::string, std::string> overrides_;  ///< setting to the text given for it
};

}  // namespace graphline
