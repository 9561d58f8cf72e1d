#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
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
  /// The names of its `params:` section; nothing for a file that is no mapping, of which more
  /// cannot be said before that is corrected.
  std::optional<std::vector<std::string>> parameters;
};

/// The files of an experiment, each read once.
class experiment_files {
 public:
  explicit experiment_files(const experiment_spec& spec);

  /// The file of a path as written in the experiment, or null after an error at its place. Throws
  /// what `read_source` throws for a file that is there. Stays valid as long as this.
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
  /// Where settings that make no sense together are shown; unset: in the pipeline's file.
  std::optional<place> run_place;

  plan planned;
  place shown_run;  ///< where that was
  diagnostics found;
};

/// Reads, sets and plans; plug-ins go into `registry`.
void plan_unit(experiment_unit& unit, stage_registry& registry, const plan_target& target);

/// Where the experiment file says how all configurations run: its last key under `run:`. Nothing
/// when that is left to the pipeline.
std::optional<place> run_place_of(const std::vector<assignment>& run);

/// Tells which keys of configurations are settings and which are parameters of the pipeline.
class experiment_keys {
 public:
  explicit experiment_keys(const pipeline_file& file) : file_(file) {}

  /// Reports what is no parameter of the pipeline in a `params:` section.
  void check_parameters(const std::vector<assignment>& params, diagnostics& out) const;

  /// Reports the keys of a configuration that are neither a setting nor a parameter, or both.
  void check(const std::vector<assignment>& assignments, diagnostics& out) const;

  /// Adds a configuration's assignments to what the unit sets; those with a wrong key are left out.
  void distribute(const std::vector<assignment>& assignments, experiment_unit& unit) const;

  /// Adds parameters, without those that the pipeline does not have.
  void add_parameters(const std::vector<assignment>& params, experiment_unit& unit) const;

 private:
  bool is_parameter(const named& key) const;

  const pipeline_file& file_;
};

/// Tells each thing once, however many configurations found it.
class telling_once {
 public:
  /// What `out` holds already counts as told.
  explicit telling_once(diagnostics& out);
  void operator()(const diagnostic& d);
  void operator()(const diagnostics& list);

 private:
  diagnostics& out_;
  std::set<std::tuple<std::string, std::size_t, std::size_t, std::string>> told_;
};

/// Reports what was found while units on one pipeline file were planned. What all of them found is
/// in that file, or is common to them, and is shown at its own place; so is a wrong value of the
/// experiment file. What only some found is shown where the experiment declares the first of them,
/// with its name and a remedy.
void attribute_diagnostics(const experiment_spec& spec,
                           const std::vector<const experiment_unit*>& units, telling_once& tell);

}  // namespace graphline::planning
