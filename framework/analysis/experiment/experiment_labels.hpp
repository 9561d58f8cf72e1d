#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Labels of an experiment's configurations in reports. A label is a name without the assignments
/// that all configurations share, or an id ("c1", "c2" in declared order). All labels are ids if a
/// name exceeds 26 bytes, because tables must fit into 80 columns. They are also ids for `many()`
/// configurations with user-defined names or several varying keys. Holds a reference to the
/// configurations.
class experiment_labels {
 public:
  explicit experiment_labels(const std::vector<experiment_configuration>& configurations);

  bool by_id() const noexcept { return by_id_; }

  /// Returns true if reports show one row per configuration, and details of changes only.
  bool many() const noexcept { return configurations_.size() > 6; }

  std::size_t size() const noexcept { return configurations_.size(); }
  const std::string& name(std::size_t configuration) const {
    return configurations_[configuration].name;
  }
  static std::string id(std::size_t configuration);

  /// Returns true if the configurations have user-defined names.
  bool named() const noexcept { return named_; }

  /// Returns the keys of settings and parameters that vary between configurations.
  const std::vector<std::string>& keys() const noexcept { return keys_; }

  /// Returns a configuration's values in the order of `keys()`; an unset value is empty.
  std::vector<std::string> values(std::size_t configuration) const;

  /// Returns an id, a generated label ("timing=sync"), or a user-defined name ("'one by one'").
  std::string of(std::size_t configuration) const;

  /// Returns the configuration's label or, if it has several pipelines, "'camera (together)'".
  std::string of(const configuration_member& what) const;

  /// Returns "a, b and c" or, if `which` contains all of several pipelines, "all configurations".
  std::string list(const std::vector<configuration_member>& which) const;

  std::vector<configuration_member> all() const;

 private:
  /// Returns the assignments that vary: "timing=sync in_flight=2".
  std::string varied(std::size_t configuration) const;

  const std::vector<experiment_configuration>& configurations_;
  bool named_ = false;
  bool by_id_ = false;
  std::vector<std::string> keys_;
};

/// Returns "a, b and c", or for more than `most` + 1 items "a, b, c, d and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

}  // namespace graphline
