#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline::planning {

/// A pipeline file that an experiment names.
struct pipeline_file {
  std::string path;  ///< from where the program runs
  std::shared_ptr<const source_text> source;
  std::vector<std::string> parameters;  ///< the names of its `params:` section
};

/// The files of an experiment, each read once.
class experiment_files {
 public:
  explicit experiment_files(const experiment_spec& spec);

  /// The file of a path as written in the experiment, or null after an error at its place. Of a
  /// file that is no pipeline no line is shown: an experiment may name any file. Stays valid as
  /// long as this.
  const pipeline_file* open(const named& path, diagnostics& out);

  /// Each file's path as written and the checksum of its text, 64-bit FNV-1a as 16 hex digits.
  const std::vector<std::pair<std::string, std::string>>& checksums() const { return checksums_; }

  /// The texts, in the same order.
  const std::vector<std::shared_ptr<const source_text>>& sources() const { return sources_; }

 private:
  void note(const std::string& path, std::shared_ptr<const source_text> source);

  std::string directory_;
  std::deque<pipeline_file> files_;  ///< which does not move what it holds
  std::vector<std::pair<std::string, std::string>> checksums_;
  std::vector<std::shared_ptr<const source_text>> sources_;
};

/// A pipeline with all that one configuration or member sets, and what came of planning it.
struct experiment_unit {
  const pipeline_file* file = nullptr;
  std::size_t index = 0;                        ///< of the configuration or member
  std::vector<const assignment*> settings;      ///< a later one wins
  std::vector<const assignment*> parameters;    ///< a later one wins
  std::optional<graphline::priority> priority;  ///< of all its streams
  bool without_priorities = false;

  plan planned;
  diagnostics found;
};

/// Reads, sets and plans; plug-ins go into `registry`.
void plan_unit(experiment_unit& unit, stage_registry& registry, const plan_target& target,
               prepared_stages& prepared);

/// Adds the parameters of a `params:` section to what the unit sets; what is none of the pipeline's
/// is reported.
void add_parameters(const std::vector<assignment>& params, experiment_unit& unit, diagnostics& out);

/// Adds a configuration's assignments to what the unit sets; a key that is neither a setting nor a
/// parameter, or both, is reported.
void add_assignments(const std::vector<assignment>& assignments, experiment_unit& unit,
                     diagnostics& out);

/// Reports what was found while units were planned, unless it was before. What only some found is
/// told with the name of the first of them and a remedy, at its place in the experiment's file, or
/// else where that declares it.
void attribute_diagnostics(const experiment_spec& spec,
                           const std::vector<const experiment_unit*>& units, diagnostics& out);

}  // namespace graphline::planning
