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

/// One configuration, ready to be run.
struct planned_configuration {
  experiment_configuration what;
  std::vector<plan> members;  ///< as in `what`
};

/// What an experiment will do: every configuration planned, so that no mistake shows half-way.
struct experiment_plan {
  std::string name;
  std::string description;
  experiment_settings how;
  std::vector<std::pair<std::string, std::string>> files;   ///< path and checksum of what was read
  std::vector<std::shared_ptr<const source_text>> sources;  ///< the texts of these files
  std::vector<planned_configuration> configurations;
  std::vector<compared_pair> pairs;
};

/// Reads the pipelines that an experiment names, loads their plug-ins into `registry`, sets what
/// each configuration sets, and plans all of them for one machine. Finds everything at once; what
/// is wrong with some configurations only is reported where they are declared, naming them and how
/// to leave them out. A key of a configuration is a setting or a parameter of the pipeline. Errors
/// go to `out`; the plan is usable only if there are none. `registry` must outlive the plan.
///
/// Several pipelines at once become these configurations: each alone, all together, and, where
/// their priorities differ, all together without priorities. Each is compared with itself alone,
/// and with itself without priorities.
experiment_plan plan_experiment(const experiment_spec& spec, stage_registry& registry,
                                const plan_target& target, diagnostics& out);

/// What stages of a plan take from files besides its text: the plug-ins that they are from, and the
/// files and folders that their parameters name.
std::set<std::string> data_files(const plan& p);

/// The same of all plans of an experiment.
std::set<std::string> data_files(const experiment_plan& planned);

/// `data_files`, each with a checksum: of a file's bytes, of the names and sizes of what is in a
/// folder. "not there" where it cannot be read.
std::vector<std::pair<std::string, std::string>> checksums_of(const std::set<std::string>& paths);

}  // namespace graphline
