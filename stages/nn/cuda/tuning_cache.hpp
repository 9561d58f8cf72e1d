#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"

namespace graphline::nn {

struct tuned_plan {
  std::string identity;  ///< `plan_choices::identity`
  nanoseconds time = 0;  ///< time of one run
  bool complete = true;  ///< false if time ran out before all plans were tried
};

/// Tuning results of earlier runs, in a file shared by processes. If two processes write at once,
/// an entry may be lost. A file that is unreadable or has another version counts as empty and is
/// replaced. Failing to write the file is not an error.
class tuning_cache {
 public:
  /// Uses a file in this folder, which is created if needed; an empty path disables the cache.
  explicit tuning_cache(const std::filesystem::path& folder);

  /// `key` identifies everything that affects the choice: device, versions, operation.
  std::optional<tuned_plan> find(const std::string& key) const;
  void store(const std::string& key, const tuned_plan& plan);

 private:
  std::filesystem::path file_;
};

}  // namespace graphline::nn
