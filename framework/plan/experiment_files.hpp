#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline {

/// A pipeline file that an experiment names.
struct pipeline_file {
  std::string path;  ///< relative to the working directory
  std::shared_ptr<const source_text> source;
  std::vector<std::string> parameters;  ///< the names of its `params:` section

  bool has_parameter(const std::string& name) const;
};

/// The files of an experiment, each read once.
class experiment_files {
 public:
  explicit experiment_files(const experiment_spec& spec);

  /// Opens a path as written in the experiment. Errors do not quote the text of a file that is not
  /// a pipeline, because an experiment may name any file.
  /// @return valid as long as this object; null after an error at the path's place
  const pipeline_file* open(const named& path, diagnostics& out);

  /// Returns each file's path as written and its 64-bit FNV-1a checksum in hex.
  const std::vector<std::pair<std::string, std::string>>& checksums() const { return checksums_; }

  /// Returns the texts, in the same order.
  const std::vector<std::shared_ptr<const source_text>>& sources() const { return sources_; }

 private:
  void note(const std::string& path, std::shared_ptr<const source_text> source);

  std::string directory_;
  std::deque<pipeline_file> files_;  ///< a deque, so that pointers stay valid
  std::vector<std::pair<std::string, std::string>> checksums_;
  std::vector<std::shared_ptr<const source_text>> sources_;
};

}  // namespace graphline
