#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Labels of an experiment's configurations in reports: by name, omitting assignments shared by all
/// configurations, or by id ("c1", "c2" in declared order). Ids are used if a name exceeds 26
/// bytes, so that tables fit into 80 columns, and for many configurations unless they differ in a
/// single setting. Names are never truncated. Refers to the configurations.
class experiment_labels {
 public:
  explicit experiment_labels(const std::vector<experiment_configuration>& configurations);

  /// Whether labels are ids.
  bool by_id() const noexcept { return by_id_; }

  /// Whether reports show a single row per configuration, and details only for changed ones.
  bool many() const noexcept { return configurations_.size() > 6; }

  std::size_t size() const noexcept { return configurations_.size(); }
  const std::string& name(std::size_t configuration) const {
    return configurations_[configuration].name;
  }
  static std::string id(std::size_t configuration);

  /// Whether configurations have user-defined names rather than generated ones.
  bool named() const noexcept { return named_; }

  /// Settings and parameters that vary between configurations.
  const std::vector<std::string>& keys() const noexcept { return keys_; }

  /// Values of `keys()`, in order; empty if unset.
  std::vector<std::string> values(std::size_t configuration) const;

  /// Returns "timing=sync", a user-defined name such as "'one by one'", or the id.
  std::string of(std::size_t configuration) const;

  /// Likewise; for concurrent pipelines "'camera (together)'".
  std::string of(const configuration_member& what) const;

  /// Returns "a, b and c", or "all configurations" if all of at least two are listed.
  std::string list(const std::vector<configuration_member>& which) const;

  /// All pipelines of all configurations.
  std::vector<configuration_member> all() const;

 private:
  /// Returns varying assignments: "timing=sync in_flight=2".
  std::string varied(std::size_t configuration) const;

  const std::vector<experiment_configuration>& configurations_;
  bool named_ = false;
  bool by_id_ = false;
  std::vector<std::string> keys_;
};

/// Returns "a, b and c", or for more than `most` items "a, b, c, d and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

}  // namespace graphline
