#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// A configuration, planned.
struct planned_configuration {
  experiment_configuration what;
  std::vector<plan> members;  ///< as in `what`
};

/// An experiment with every configuration planned, so that errors are found before the first trial.
struct experiment_plan {
  std::string name;
  std::string description;
  experiment_settings how;
  std::vector<std::pair<std::string, std::string>> files;   ///< path and checksum of each file read
  std::vector<std::shared_ptr<const source_text>> sources;  ///< the texts of these files
  std::vector<planned_configuration> configurations;
  std::vector<compared_pair> pairs;
};

/// Reads the pipelines that an experiment names, loads their plug-ins into `registry`, applies the
/// settings and parameters of each configuration, and plans all of them for one machine. Reports
/// all errors at once. An error in only some configurations is reported where these are declared,
/// with their names and how to exclude them. The plan is usable only if `out` has no errors.
/// `registry` must outlive the plan.
///
/// Concurrent pipelines become these configurations: each alone; all together; and, if their
/// priorities differ, all together without priorities. Each pipeline of the group is compared with
/// itself alone and with itself in the group without priorities.
experiment_plan plan_experiment(const experiment_spec& spec, stage_registry& registry,
                                const plan_target& target, diagnostics& out);

/// Returns the files and folders that a plan's stages and inputs read, besides the pipeline itself:
/// plug-ins, and paths in parameters.
std::set<std::string> data_files(const plan& p);

/// Returns the same for all plans of an experiment.
std::set<std::string> data_files(const experiment_plan& planned);

/// Returns each path with a checksum of the file's bytes or, for a folder, of the names and sizes
/// in it; "not there" if it cannot be read.
std::vector<std::pair<std::string, std::string>> checksums_of(const std::set<std::string>& paths);

}  // namespace graphline
