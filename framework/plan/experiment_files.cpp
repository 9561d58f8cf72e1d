#include "framework/plan/experiment_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

/// Returns the names in a pipeline's `params:` section.
/// @throws unreadable_file if the file is not a pipeline, without quoting its text
std::vector<std::string> declared_parameters(const std::shared_ptr<const source_text>& source) {
  diagnostics found;
  const node document = read_yaml(source, found);
  if (document.find("pipeline") == nullptr) {
    const place at = found.all().empty() ? place{} : found.all().front().place;
    if (document.find("experiment") != nullptr) {
      throw unreadable_file(source->name(),
                            "it declares an experiment, not a pipeline; use it with 'graphline "
                            "compare'");
    }
    throw unreadable_file(
        source->name(),
        fmt::format("it is not a pipeline: {}; 'graphline check {}' shows more",
                    at.line > 0
                        ? fmt::format("it cannot be read at line {}, column {}", at.line, at.column)
                        : "it has no key 'pipeline'",
                    source->name()));
  }
  std::vector<std::string> names;
  if (const node* section = document.find("params")) {
    for (const node::member& m : section->members()) names.push_back(m.key.text);
  }
  return names;
}

}  // namespace

bool pipeline_file::has_parameter(const std::string& name) const {
  return std::ranges::find(parameters, name) != parameters.end();
}

experiment_files::experiment_files(const experiment_spec& spec) : directory_(spec.directory) {
  if (spec.source) note(spec.source->name(), spec.source);
}

const pipeline_file* experiment_files::open(const named& path, diagnostics& out) {
  const auto full = (std::filesystem::path(directory_) / path.text).lexically_normal().string();
  const auto known = std::ranges::find(files_, full, &pipeline_file::path);
  if (known != files_.end()) return &*known;
  try {
    const auto source = read_source(full);
    pipeline_file read{full, source, declared_parameters(source)};
    note(path.text, source);
    return &files_.emplace_back(std::move(read));
  } catch (const unreadable_file& problem) {
    out.error(path.place,
              fmt::format("{} cannot be read: {}", quote(path.text, 200), problem.reason()));
    return nullptr;
  }
}

void experiment_files::note(const std::string& path, std::shared_ptr<const source_text> source) {
  checksums_.emplace_back(path, fmt::format("{:016x}", seed_from(source->text())));
  sources_.push_back(std::move(source));
}

}  // namespace graphline
