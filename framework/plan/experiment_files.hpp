#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline::planning {

/// A pipeline file that an experiment names.
struct pipeline_file {
  std::string path;  ///< from where the program runs
  std::shared_ptr<const source_text> source;
  /// The names of its `params:` section; nothing for a file that is no mapping, of which more
  /// cannot be said before that is corrected.
  std::optional<std::vector<std::string>> parameters;
};

/// The files of an experiment, each read once.
class experiment_files {
 public:
  explicit experiment_files(const experiment_spec& spec);

  /// The file of a path as written in the experiment, or null after an error at its place. Throws
  /// what `read_source` throws for a file that is there. Stays valid as long as this.
  const pipeline_file* open(const named& path, diagnostics& out);

  /// Each file's path as written and the checksum of its text, 64-bit FNV-1a as 16 hex digits.
  const std::vector<std::pair<std::string, std::string>>& checksums() const { return checksums_; }

  /// The texts, in the same order.
  const std::vector<std::shared_ptr<const source_text>>& sources() const { return sources_; }

 private:
  void note(const std::string& path, std::shared_ptr<const source_text> source);

  std::string directory_;
  std::deque<pipeline_file> files_;  ///< which does not move what it holds
  std::vector<std::pair<std::string, std::string>> checksums_;
  std::vector<std::shared_ptr<const source_text>> sources_;
};

}  // namespace graphline::planning
