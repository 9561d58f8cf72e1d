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

// From a pipeline to its plan and its record in one call each, as the `graphline` program does it,
// on the devices that come with Graphline.

namespace graphline {

/// A pipeline to read: a file, the text of one, or a spec made in C++.
class pipeline_source {
 public:
  /// The path of a file.
  pipeline_source(std::string path) : from_(std::move(path)) {}
  pipeline_source(const char* path) : from_(std::string(path)) {}

  /// The text of a file. Relative paths in it start at the folder of its name.
  pipeline_source(source_text text) : from_(std::make_shared<const source_text>(std::move(text))) {}

  pipeline_source(pipeline_spec spec) : from_(std::move(spec)) {}

  /// The spec; what is wrong goes to `out`. Throws an `input_error` if the file cannot be read.
  pipeline_spec read(const reading_options& options, diagnostics& out) const;

 private:
  std::variant<std::string, std::shared_ptr<const source_text>, pipeline_spec> from_;
};

/// What a plan is for, and so which device must exist.
enum class plan_use {
  run,      ///< the device must be there
  check,    ///< the device must be one of this build, there or not
  inspect,  ///< any: it only selects values of the pipeline's `params`; memory is not checked
};

struct planning_options {
  std::string device = "auto";                                ///< auto, host, cuda or cuda:N
  std::vector<std::pair<std::string, std::string>> set = {};  ///< parameters, as with --set
  /// Changes what was read before it is planned, such as settings of the run. What is wrong with
  /// the changes goes to `out`.
  std::function<void(pipeline_spec&, diagnostics& out)> adjust = {};
  plugin_use plugins = plugin_use::load;
};

struct planned_pipeline {
  plan planned;
  plan_target machine;   ///< that the plan is for
  diagnostics warnings;  ///< on the pipeline; errors are thrown
};

/// Reads, checks and plans a pipeline, and loads its plug-ins into `stages`, which must outlive the
/// plan. Throws everything wrong with the pipeline as one `input_error`; otherwise, if the device
/// is missing, what `device_list::resolve` throws.
planned_pipeline plan_pipeline(const pipeline_source& from, stage_registry& stages,
                               const planning_options& options, plan_use use = plan_use::run);

/// Plans a pipeline, opens its device and runs it once. Throws what `plan_pipeline`,
/// `device_list::open`, `session` and `session::run` throw; a failed stage does not throw but sets
/// `failure` of the record. The record's warnings start with those on the pipeline.
///
/// To run a pipeline several times, pass the plan of `plan_pipeline` to a `session`.
///
/// On `host` with more than one compute thread, set OMP_WAIT_POLICY=PASSIVE in the environment
/// before the program starts: libgomp reads it when it is loaded. Otherwise idle compute threads
/// spin on the cores that CPU stages need. The `graphline` program sets it and starts itself
/// again; a library cannot.
run_record run_pipeline(const pipeline_source& from, const planning_options& planning = {},
                        const run_options& options = {}, stage_registry stages = builtin_stages());

/// The machine that a plan for this device is checked against. Throws what `device_list::resolve`
/// throws.
plan_target target_of(const std::string& device_name);

}  // namespace graphline
