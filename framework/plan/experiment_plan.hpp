#pragma once

#include <cstddef>
#include <map>
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

struct planned_configuration {
  experiment_configuration what;
  std::vector<plan> members;  ///< as in `what`
};

/// An experiment with every configuration planned, so that errors are found before the first trial.
struct experiment_plan {
  std::string name;
  std::string description;
  experiment_settings how;
  std::vector<std::pair<std::string, std::string>>
      files;  ///< path and checksum of each pipeline file
  std::vector<std::shared_ptr<const source_text>> sources;  ///< the texts of these files
  std::vector<planned_configuration> configurations;
  std::vector<compared_pair> pairs;
  std::vector<chain_record> chains;
};

/// Diagnostics by index of a declared configuration.
using refused_configurations = std::map<std::size_t, diagnostics>;

/// Reads the pipelines that an experiment names and loads their plug-ins into `registry`, which
/// must outlive the plan. Plans each configuration with its settings and parameters for one
/// machine. Reports all errors at once. An error in some configurations names the first of these.
/// The plan is usable only if `out` has no errors.
///
/// With `refused`, errors of configurations other than the first are no errors of the experiment.
/// These configurations are left out of the plan, and stored in `refused` with their diagnostics.
///
/// Concurrent pipelines run in these configurations: each alone; all together; and, if their
/// priorities differ, all together without priorities. Each pipeline running together with the
/// others is compared with itself alone, and with itself without priorities.
experiment_plan plan_experiment(const experiment_spec& spec, stage_registry& registry,
                                const plan_target& target, diagnostics& out,
                                refused_configurations* refused = nullptr);

/// Returns the files and folders that a plan reads: plug-ins, inputs, paths in parameters and due
/// times.
std::set<std::string> data_files(const plan& p);

std::set<std::string> data_files(const experiment_plan& planned);

/// Returns each path with a checksum of the file's bytes; for a folder, of the names and sizes in
/// it. The checksum is "not there" if the path cannot be read.
std::vector<std::pair<std::string, std::string>> checksums_of(const std::set<std::string>& paths);

}  // namespace graphline
