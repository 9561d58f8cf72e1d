#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/experiment_files.hpp"
#include "framework/plan/experiment_unit.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline::planning {

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

}  // namespace graphline::planning
