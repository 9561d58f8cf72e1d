#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// What the configurations of an experiment are called in reports. A name made of assignments is
/// shown without those that all configurations share.
class experiment_labels {
 public:
  explicit experiment_labels(const experiment_record& record);

  /// What varies, where all names are made of assignments to the same keys; else empty.
  const std::vector<std::string>& keys() const noexcept { return keys_; }

  /// Values of `keys()`, in their order.
  std::vector<std::string> values(std::size_t configuration) const;

  /// "timing=sync", or the name that was given: "'one by one'".
  std::string of(std::size_t configuration) const;

  /// The same; of several pipelines at once: "'camera (together)'".
  std::string of(const configuration_member& what) const;

  /// "a, b and c"; "all configurations" where it is every one of at least two.
  std::string list(const std::vector<configuration_member>& which) const;

  /// The same with how it stands in a sentence: "with a and b", "in all configurations".
  std::string where(const std::vector<configuration_member>& which) const;

  /// Every pipeline of every configuration.
  std::vector<configuration_member> all() const;

 private:
  const experiment_record& record_;
  std::vector<std::size_t> varied_;  ///< places in a configuration's assignments
  std::vector<std::string> keys_;
};

/// "a, b and c"; of more than `most`: "a, b, c, d and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

}  // namespace graphline
