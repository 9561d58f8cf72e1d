#pragma once

#include <string>

#include "framework/analysis/analyze.hpp"
#include "framework/base/error.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/stage/stage_registry.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/device_set.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// The part of the command line that says which experiment, and on which device.
class experiment_arguments {
 public:
  /// Adds EXPERIMENT.yaml, --device and --no-plugins.
  void add_to(CLI::App& command);

  /// Reads the experiment and plans every configuration. Warnings go to standard error where
  /// `show_warnings`; everything wrong is thrown as one `input_error`. These options must outlive
  /// the plan.
  experiment_plan make_plan(bool show_warnings);

  /// The devices that the experiment's plans run on.
  device_set devices() const { return device_set(device_); }

  /// Bytes of device memory that pipelines may take together.
  std::uint64_t memory_budget() const;

  const std::string& path() const noexcept { return path_; }
  const std::string& device_name() const noexcept { return device_; }

 private:
  stage_registry stages_ = builtin_stages();
  std::string path_;
  std::string device_ = "auto";
  plugin_use plugins_ = plugin_use::load;
};

/// Adds the files that an experiment is written to: --json, --csv, --html and --markdown.
void add_experiment_files(CLI::App& command, result_files& files);

/// Shows an experiment's tables, unless `quiet`, and writes the files.
void write_experiment(result_outputs& to, const experiment_record& record,
                      const experiment_analysis& analysis, bool quiet);

/// Of the command that measured it.
exit_status status_of(const experiment_record& record);

}  // namespace graphline
