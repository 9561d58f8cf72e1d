#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/stage/policy.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// The stage kinds of a program, and the policies of its plug-ins, by name.
class stage_registry {
 public:
  /// @throws input_error if the name is taken or the kind is incomplete
  void add(stage_kind kind);

  /// @throws input_error if the name is taken or the kind is incomplete
  void add(policy_kind kind);

  /// @return null if there is no kind of that name
  const stage_kind* find(std::string_view name) const noexcept;

  /// Returns every kind, ordered by name.
  std::vector<const stage_kind*> all() const;
  std::vector<std::string> names() const;

  const std::map<std::string, policy_kind, std::less<>>& policies() const noexcept {
    return policies_;
  }

 private:
  std::map<std::string, stage_kind, std::less<>> kinds_;
  std::map<std::string, policy_kind, std::less<>> policies_;
};

}  // namespace graphline
