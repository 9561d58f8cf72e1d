#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"

namespace graphline::nn {

/// The plan that was fastest when tuned.
struct tuned_plan {
  std::string identity;  ///< `plan_choices::identity`
  nanoseconds time = 0;  ///< of one run
};

/// Tuning results of earlier runs, in a file shared by processes; of two concurrent writers the
/// later may drop the other's entry. An unreadable file or one of another version counts as empty
/// and is replaced; if the file cannot be written, results are not kept. Neither is an error.
class tuning_cache {
 public:
  /// A file in this folder, which is created when needed; an empty path keeps nothing.
  explicit tuning_cache(const std::filesystem::path& folder);

  /// `key` identifies everything that affects the choice: device, versions, operation.
  std::optional<tuned_plan> find(const std::string& key) const;
  void store(const std::string& key, const tuned_plan& plan);

 private:
  std::filesystem::path file_;
};

}  // namespace graphline::nn
