#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"

namespace graphline::nn {

/// A plan that was the fastest when it was tried out.
struct tuned_plan {
  std::string identity;  ///< `plan_choices::identity`
  nanoseconds time = 0;  ///< of one run then
};

/// What earlier runs of the program found out, in a file. Any process may write it at any time: of
/// two that do at once the later one may drop what the other added. A file that cannot be read, or
/// is of another version, counts as empty and is replaced; where none can be written, nothing is
/// kept. None of this is a failure.
class tuning_cache {
 public:
  /// In this folder, which is made when needed; an empty one keeps nothing.
  explicit tuning_cache(const std::filesystem::path& folder);

  /// `key` names everything that the choice may depend on: device, versions, operation.
  std::optional<tuned_plan> find(const std::string& key) const;
  void store(const std::string& key, const tuned_plan& plan);

 private:
  std::filesystem::path file_;
};

}  // namespace graphline::nn
