#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

/// The stage kinds of a program, by name.
class stage_registry {
 public:
  /// @throws input_error if the name is taken or the kind is incomplete
  void add(stage_kind kind);

  /// @return null if there is no kind of that name
  const stage_kind* find(std::string_view name) const noexcept;

  /// Returns every kind, ordered by name.
  std::vector<const stage_kind*> all() const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, stage_kind, std::less<>> kinds_;
};

}  // namespace graphline
