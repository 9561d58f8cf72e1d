#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// What the configurations of an experiment are called in reports: by name, one that is made of
/// assignments without those that all configurations share; or by id, "c1", "c2" in declared order.
/// Ids stand for names where one is longer than 26 bytes, with which tables fit into 80 columns,
/// and where there are more than a few configurations, unless a single setting tells them apart. No
/// name is ever cut. Refers to the configurations.
class experiment_labels {
 public:
  explicit experiment_labels(const std::vector<experiment_configuration>& configurations);

  /// Whether ids stand for names.
  bool by_id() const noexcept { return by_id_; }

  /// Too many for reports to show more of each than one row, and details only where one changed.
  bool many() const noexcept { return configurations_.size() > 6; }

  std::size_t size() const noexcept { return configurations_.size(); }
  const std::string& name(std::size_t configuration) const {
    return configurations_[configuration].name;
  }
  static std::string id(std::size_t configuration);

  /// Whether configurations have names that were given, not made of what varies.
  bool named() const noexcept { return named_; }

  /// What varies: settings and parameters that are not the same in all configurations.
  const std::vector<std::string>& keys() const noexcept { return keys_; }

  /// Values of `keys()`, in their order; empty where a configuration does not set it.
  std::vector<std::string> values(std::size_t configuration) const;

  /// "timing=sync", the name that was given: "'one by one'", or the id.
  std::string of(std::size_t configuration) const;

  /// The same; of several pipelines at once: "'camera (together)'".
  std::string of(const configuration_member& what) const;

  /// "a, b and c"; "all configurations" where it is every one of at least two.
  std::string list(const std::vector<configuration_member>& which) const;

  /// Every pipeline of every configuration.
  std::vector<configuration_member> all() const;

 private:
  /// "timing=sync in_flight=2", of what varies.
  std::string varied(std::size_t configuration) const;

  const std::vector<experiment_configuration>& configurations_;
  bool named_ = false;
  bool by_id_ = false;
  std::vector<std::string> keys_;
};

/// "a, b and c"; of more than `most`: "a, b, c, d and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

}  // namespace graphline
