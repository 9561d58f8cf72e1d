#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/place.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "framework/stage/stage_registry.hpp"
#include "stages/builtin.hpp"

// Plans or runs a pipeline in one call, as the `graphline` program does, on the built-in devices.

namespace graphline {

class pipeline_source {
 public:
  /// Path of a file.
  pipeline_source(std::string path) : from_(std::move(path)) {}
  pipeline_source(const char* path) : from_(std::string(path)) {}

  /// Text of a file. Relative paths in the text start from the folder of `text.name()`.
  pipeline_source(source_text text) : from_(std::make_shared<const source_text>(std::move(text))) {}

  pipeline_source(pipeline_spec spec) : from_(std::move(spec)) {}

  /// Returns the spec; reports errors to `out`.
  /// @throws input_error if the file cannot be read
  pipeline_spec read(const reading_options& options, diagnostics& out) const;

 private:
  std::variant<std::string, std::shared_ptr<const source_text>, pipeline_spec> from_;
};

/// Purpose of a plan, which determines the devices it accepts.
enum class plan_use {
  run,      ///< requires the device
  check,    ///< requires a backend of this build; the device may be absent
  inspect,  ///< accepts any name, to select values of `params`; memory is not checked
};

struct planning_options {
  std::string device = "auto";                                ///< auto, host, cuda or cuda:N
  bool is_default = false;                                    ///< whether nobody chose the device
  std::vector<std::pair<std::string, std::string>> set = {};  ///< parameters by name
  /// Modifies the spec before planning, for example its run settings; reports errors to `out`.
  std::function<void(pipeline_spec&, diagnostics& out)> adjust = {};
  plugin_use plugins = plugin_use::load;
};

struct planned_pipeline {
  plan planned;
  plan_target machine;   ///< target of the plan
  diagnostics warnings;  ///< of the pipeline; errors are thrown instead
};

/// Reads, checks and plans a pipeline, and loads its plug-ins into `stages`.
/// @pre `stages` outlives the plan.
/// @throws input_error with all errors of the pipeline
/// @throws What `device_list::resolve` throws, if the pipeline has no errors
planned_pipeline plan_pipeline(const pipeline_source& from, stage_registry& stages,
                               const planning_options& options, plan_use use = plan_use::run);

/// Plans a pipeline, opens its device and runs it once. If a stage fails, does not throw but sets
/// the record's `failure`. The record's warnings start with those about the pipeline.
///
/// To run a pipeline several times, pass the plan of `plan_pipeline` to a `session`.
///
/// With more than one compute thread on `host`, set OMP_WAIT_POLICY=PASSIVE before the program
/// starts, because libgomp reads it when loaded. Otherwise idle compute threads spin on cores that
/// CPU stages need. The `graphline` program restarts itself with this setting, but a library
/// cannot.
/// @throws What `plan_pipeline`, `device_list::open`, `session` and `session::run` throw
run_record run_pipeline(const pipeline_source& from, const planning_options& planning = {},
                        const run_options& options = {}, stage_registry stages = builtin_stages());

/// Returns the target of plans for a device. With `check`, the device may be missing.
/// @throws What `device_list::resolve` throws
plan_target target_of(const std::string& device_name, plan_use use = plan_use::run);

}  // namespace graphline
